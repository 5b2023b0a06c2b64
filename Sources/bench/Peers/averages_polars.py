"""Daily averages by polars, as a yardstick of `make bench`.

The tasks, the files and the result are those of averages_duckdb.py; the facts are in FOLDER/polars.parquet.

Each span is expanded into its days by `int_ranges`. A day that one price fills needs no weighting. Only the first and
the last day of a span are grouped by station. The regions are averaged one after the other, which takes a third of the
memory that one pass over all of them takes, and no more time.
"""

import json
import sys

import polars as pl

TABLES = {
    "facts": {"station_id": pl.Int32, "fuel_id": pl.Int16, "began": pl.Int64, "price_tenths": pl.Int32},
    "days": {"day": pl.Int32, "begins_at": pl.Int64, "ends_at": pl.Int64},
    "fuels": {"fuel_id": pl.Int16, "lapses_after": pl.Int64},
    "members": {"region": pl.String, "station_id": pl.Int32},
}
PAIR = ["station_id", "fuel_id"]


def read(folder, name):
    return pl.scan_csv(f"{folder}/{name}.csv", schema=TABLES[name])


def spans(facts, days, fuels):
    """The time for which each price holds, with its first and its last day."""
    is_last = (pl.col("station_id") != pl.col("station_id").shift(-1)) | (
        pl.col("fuel_id") != pl.col("fuel_id").shift(-1)
    )
    end = days.select(pl.col("ends_at").max()).collect().item()
    next_at = pl.when(is_last.fill_null(True)).then(end).otherwise(pl.col("began").shift(-1))
    held = (
        facts.join(fuels, on="fuel_id")
        .sort(*PAIR, "began")
        .with_columns(to_at=pl.min_horizontal(next_at, pl.col("began") + pl.col("lapses_after")))
        .rename({"began": "from_at"})
        .filter(pl.col("to_at") > pl.col("from_at"))
        .with_columns(last_at=pl.col("to_at") - 1)
    )
    first = days.select(key="begins_at", first_day="day", first_ends_at="ends_at").set_sorted("key")
    last = days.select(key="begins_at", last_day="day", last_begins_at="begins_at").set_sorted("key")
    return (
        held.sort("from_at")
        .join_asof(first, left_on="from_at", right_on="key")
        .sort("last_at")
        .join_asof(last, left_on="last_at", right_on="key")
    )


def station_days(spans):
    """Each station's price of each day."""
    first, last = pl.col("first_day"), pl.col("last_day")
    edges = pl.concat(
        [
            spans.select(
                *PAIR, "price_tenths", day="first_day",
                seconds=pl.min_horizontal("to_at", "first_ends_at") - pl.col("from_at"),
            ),
            spans.filter(last > first).select(
                *PAIR, "price_tenths", day="last_day", seconds=pl.col("to_at") - pl.col("last_begins_at")
            ),
        ]
    )
    weighted = (pl.col("price_tenths") * pl.col("seconds")).sum() / pl.col("seconds").sum()
    whole = spans.filter(last > first + 1).select(
        *PAIR, day=pl.int_ranges(first + 1, last, dtype=pl.Int32), price=pl.col("price_tenths").cast(pl.Float64)
    )
    return pl.concat([edges.group_by(*PAIR, "day").agg(price=weighted), whole.explode("day")])


def main(task, folder=None):
    if task == "version":
        print(pl.__version__)
        return
    facts = f"{folder}/polars.parquet"
    if task == "prepare":
        read(folder, "facts").sink_parquet(facts)
        return
    stations = station_days(spans(pl.scan_parquet(facts), read(folder, "days"), read(folder, "fuels")))
    stations = stations.collect(engine="streaming")
    price = pl.col("price")
    averages = pl.concat(
        stations.lazy()
        .join(members.lazy(), on="station_id", how="semi")
        .group_by("fuel_id", "day")
        .agg(
            mean=price.mean(), lower_quartile=price.quantile(0.25, "linear"), median=price.median(),
            lowest=price.min(), highest=price.max(), stations=pl.len(),
        )
        .filter(pl.col("stations") >= 3)
        .with_columns(region=pl.lit(region))
        .collect(engine="streaming")
        for (region,), members in read(folder, "members").collect().group_by("region")
    )
    print(json.dumps({"rows": averages.height, "mean": averages["mean"].mean() / 10}))


main(*sys.argv[1:])
