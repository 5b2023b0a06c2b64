"""The program with which `make bench` compares daily averages makes the right ones.

    peers.py FOLDER    FOLDER has averages_duckdb.py

A small market is averaged second by second of its spans, day by day, in plain Python. It has changes at the ends of
days, days of 23 and 25 hours, prices that lapse, and days on which too few stations have a price.
"""

import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

SYDNEY = ZoneInfo("Australia/Sydney")
DAYS = 400
MIDNIGHTS = [
    int((datetime(2016, 8, 1) + timedelta(days=day)).replace(tzinfo=SYDNEY).timestamp()) for day in range(DAYS + 1)
]
LAPSES = {1: 720 * 3600, 5: 1440 * 3600}
MEMBERS = {"all": range(1, 7), "some": range(1, 5), "few": range(1, 3)}


def market():
    """The price changes: lists of (instant, tenths) by station and fuel."""
    numbers = random.Random(1)
    pairs = {}
    for station in range(1, 7):
        for fuel in LAPSES:
            instants = {numbers.randrange(MIDNIGHTS[0], MIDNIGHTS[-1]) for _ in range(20)}
            instants |= {numbers.choice(MIDNIGHTS[:-1]) + numbers.choice([-1, 0, 1]) for _ in range(5)}
            instants = sorted(instant for instant in instants if instant >= MIDNIGHTS[0])
            pairs[station, fuel] = [(instant, numbers.randrange(1400, 1900)) for instant in instants]
    return pairs


def averages(pairs):
    """How many averages there are, and the mean of their means in cents."""
    station_days = {}
    for (station, fuel), changes in pairs.items():
        ends = [instant for instant, _ in changes[1:]] + [MIDNIGHTS[-1]]
        for (began, price), end in zip(changes, ends):
            end = min(end, began + LAPSES[fuel])
            for day in range(DAYS):
                seconds = min(end, MIDNIGHTS[day + 1]) - max(began, MIDNIGHTS[day])
                if seconds > 0:
                    station_days.setdefault((fuel, day), {}).setdefault(station, []).append((price, seconds))
    means = []
    for stations in station_days.values():
        mean = {
            station: sum(price * seconds for price, seconds in parts) / sum(seconds for _, seconds in parts)
            for station, parts in stations.items()
        }
        for members in MEMBERS.values():
            prices = [mean[station] for station in members if station in mean]
            if len(prices) >= 3:
                means.append(sum(prices) / len(prices))
    return len(means), sum(means) / len(means) / 10


def write(folder, name, header, rows):
    with open(f"{folder}/{name}.csv", "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def main(programs):
    pairs = market()
    rows, mean = averages(pairs)
    epoch = datetime(1970, 1, 1)
    first_day = (datetime(2016, 8, 1) - epoch).days
    with tempfile.TemporaryDirectory() as folder:
        facts = [(*pair, *change) for pair, changes in pairs.items() for change in changes]
        random.Random(2).shuffle(facts)
        write(folder, "facts", ["station_id", "fuel_id", "began", "price_tenths"], facts)
        days = [(first_day + day, MIDNIGHTS[day], MIDNIGHTS[day + 1]) for day in range(DAYS)]
        write(folder, "days", ["day", "begins_at", "ends_at"], days)
        write(folder, "fuels", ["fuel_id", "lapses_after"], LAPSES.items())
        members = [(region, station) for region, stations in MEMBERS.items() for station in stations]
        write(folder, "members", ["region", "station_id"], members)
        program = [sys.executable, str(pathlib.Path(programs) / "averages_duckdb.py")]
        subprocess.run([*program, "prepare", folder], check=True)
        made = json.loads(subprocess.run([*program, "run", folder], check=True, capture_output=True).stdout)
        if made["rows"] != rows or abs(made["mean"] - mean) > 1e-6:
            sys.exit(f"duckdb makes {made}, right are {rows} of {mean}")
        print("duckdb agrees", flush=True)


main(*sys.argv[1:])
