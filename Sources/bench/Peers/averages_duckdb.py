"""Daily averages by DuckDB, as a yardstick of `make bench`.

    averages_duckdb.py version           prints the version of DuckDB
    averages_duckdb.py prepare FOLDER    turns FOLDER/facts.csv into FOLDER/duckdb.parquet
    averages_duckdb.py run FOLDER        makes the averages and prints how many there are and the mean of their means

A price holds until the next one of the same station and fuel, until it lapses, or until the last day ends. A station's
price of a day is weighted by time. The averages are made over the stations of each region. Beside the facts, FOLDER
has days.csv (when each local day begins and ends), fuels.csv (when a price of each fuel lapses) and members.csv (the
stations of each region). Instants and times are seconds.

Each span is expanded into its days by `range`. A day that one price fills needs no weighting. Only the first and the
last day of a span are grouped by station.
"""

import json
import sys

import duckdb

TABLES = {
    "facts": {"station_id": "INTEGER", "fuel_id": "SMALLINT", "began": "BIGINT", "price_tenths": "INTEGER"},
    "days": {"day": "INTEGER", "begins_at": "BIGINT", "ends_at": "BIGINT"},
    "fuels": {"fuel_id": "SMALLINT", "lapses_after": "BIGINT"},
    "members": {"region": "VARCHAR", "station_id": "INTEGER"},
}

AVERAGES = """
CREATE TABLE averages AS
WITH held AS (
  SELECT station_id, fuel_id, price_tenths, began AS from_at,
    least(
      lead(began, 1, (SELECT max(ends_at) FROM days)) OVER (PARTITION BY station_id, fuel_id ORDER BY began),
      began + lapses_after) AS to_at
  FROM facts
  JOIN fuels USING (fuel_id)),
span AS (
  SELECT station_id, fuel_id, price_tenths, from_at, to_at, first.day AS first_day, first.ends_at AS first_ends_at,
    last.day AS last_day, last.begins_at AS last_begins_at
  FROM held
  ASOF JOIN days AS first ON held.from_at >= first.begins_at
  ASOF JOIN days AS last ON held.to_at - 1 >= last.begins_at
  WHERE to_at > from_at),
edge AS (
  SELECT station_id, fuel_id, first_day AS day, price_tenths, least(to_at, first_ends_at) - from_at AS seconds
  FROM span
  UNION ALL
  SELECT station_id, fuel_id, last_day, price_tenths, to_at - last_begins_at
  FROM span
  WHERE last_day > first_day),
station_day AS (
  SELECT station_id, fuel_id, day, sum(price_tenths * seconds) / sum(seconds) AS price
  FROM edge
  GROUP BY station_id, fuel_id, day
  UNION ALL
  SELECT station_id, fuel_id, unnest(range(first_day + 1, last_day)), price_tenths
  FROM span
  WHERE last_day > first_day + 1)
SELECT region, fuel_id, day, avg(price) AS mean, quantile_cont(price, [0.25, 0.5]) AS quartiles,
  min(price) AS lowest, max(price) AS highest, count(*) AS stations
FROM station_day
JOIN members USING (station_id)
GROUP BY region, fuel_id, day
HAVING count(*) >= 3
"""


def read(folder, name):
    columns = ", ".join(f"'{column}': '{kind}'" for column, kind in TABLES[name].items())
    return f"read_csv('{folder}/{name}.csv', header = true, columns = {{{columns}}})"


def main(task, folder=None):
    if task == "version":
        print(duckdb.__version__)
        return
    database = duckdb.connect(config={"temp_directory": f"{folder}/duckdb", "preserve_insertion_order": False})
    if task == "prepare":
        database.execute(f"COPY (FROM {read(folder, 'facts')}) TO '{folder}/duckdb.parquet' (FORMAT parquet)")
        return
    database.execute(f"CREATE VIEW facts AS FROM read_parquet('{folder}/duckdb.parquet')")
    for name in ["days", "fuels", "members"]:
        database.execute(f"CREATE TABLE {name} AS FROM {read(folder, name)}")
    database.execute(AVERAGES)
    rows, mean = database.execute("SELECT count(*), avg(mean) / 10 FROM averages").fetchone()
    print(json.dumps({"rows": rows, "mean": mean}))


main(*sys.argv[1:])
