"""Times the queries of docs/cookbook.md as analysts run them, on whatever database the PG* variables lead to.

    questions.py DOCUMENTS [LIMIT]

Of each query its lines, and the milliseconds of the second of two runs: psycopg into pandas, ADBC into polars, and
the same Arrow table in DuckDB. With LIMIT it ends with 1 where pandas took more milliseconds than that.
"""

import pathlib
import re
import sys
import time

import adbc_driver_postgresql.dbapi
import duckdb
import pandas
import polars
import psycopg


def recipes(text):
    """Each query of the cookbook with the question above it."""
    for title, body in re.findall(r"^### (.*?)\n(.*?)(?=^##|\Z)", text, re.S | re.M):
        found = re.search(r"```sql\n(.*?)```", body, re.S)
        if found:
            yield title, found[1].strip().rstrip(";")


NUMERIC, INTERVAL = 1700, 1186


def for_arrow(query, columns):
    """The query with types that Arrow's clients compute with."""
    kinds = {NUMERIC: '{0}::float8 AS {0}', INTERVAL: 'extract(epoch FROM {0})::float8 AS {0}'}
    cells = [kinds.get(column.type_code, "{0}").format(f'"{column.name}"') for column in columns]
    return f"SELECT {', '.join(cells)} FROM ({query}) AS answer"


def timed(run):
    for _ in range(2):
        began = time.perf_counter()
        value = run()
        took = (time.perf_counter() - began) * 1_000
    return value, took


def main():
    text = (pathlib.Path(sys.argv[1]) / "cookbook.md").read_text()
    limit = float(sys.argv[2]) if len(sys.argv) > 2 else None
    slow = 0
    print("| question | lines | rows | pandas, ms | polars, ms | DuckDB, ms |")
    print("|---|---|---|---|---|---|")
    with psycopg.connect(autocommit=True, options="-c statement_timeout=20s") as connection, adbc_driver_postgresql.dbapi.connect("postgresql://") as arrow:
        for title, query in recipes(text):

            def by_pandas():
                cursor = connection.execute(query)
                return pandas.DataFrame(cursor.fetchall(), columns=[column.name for column in cursor.description])

            arrow_query = for_arrow(query, connection.execute(query).description)

            def by_arrow():
                with arrow.cursor() as cursor:
                    cursor.execute(arrow_query)
                    return cursor.fetch_arrow_table()

            frame, pandas_ms = timed(by_pandas)
            table, polars_ms = timed(lambda: polars.from_arrow(by_arrow()))

            def by_duckdb():
                answer = by_arrow()
                return duckdb.sql("SELECT count(*) FROM answer").fetchall()

            rows, duckdb_ms = timed(by_duckdb)
            if not len(frame) == table.height == rows[0][0]:
                sys.exit(f"questions.py: {title}: {len(frame)}, {table.height} and {rows} rows")
            slow += limit is not None and pandas_ms > limit
            print(
                f"| {title} | {len(query.splitlines())} | {len(frame)} | {pandas_ms:.0f} | {polars_ms:.0f} "
                f"| {duckdb_ms:.0f} |", flush=True)
    if slow:
        sys.exit(f"questions.py: {slow} took longer than {limit:.0f} ms")


main()
