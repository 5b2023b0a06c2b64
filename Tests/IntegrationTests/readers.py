"""Reads the whole interface, the schema fuel_v1, as a Python program would, and checks what readers rely on.

    readers.py                  every view into a DataFrame, every function once
    readers.py --exports DIR    and DIR/<view>.csv and DIR/<view>.ndjson with DuckDB, against the views

The PG* variables lead to the database. PGOPTIONS='-c bowser.now=2026-07-02T12:00:00Z' stops the clock, so that
exports made at that instant and the views agree.
"""

import argparse
import datetime
import decimal
import itertools
import pathlib
import re
import sys

import duckdb
import pandas
import psycopg
from psycopg import sql

MOST_ROWS = 50_000
TYPES = re.compile(
    r"text|bigint|integer|boolean|date|timestamp with time zone|numeric\((?P<digits>\d+),(?P<scale>\d+)\)")
# A text that a spreadsheet would take for a formula and that is not a number.
FORMULA = r"^[=+@-]"
GUARDED = r"^'[=+@-]"
NUMBER = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"


class Broken(Exception):
    """A rule that does not hold."""


def require(holds, *words):
    if not holds:
        raise Broken(" ".join(str(word) for word in words))


def counted(number, what):
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def require_columns(place, found, names):
    for number, (here, there) in enumerate(itertools.zip_longest(found, names), 1):
        require(here == there, f"{place}: column {number} is {here}, in the catalogue {there}")


class Column:
    def __init__(self, name, type_name, comment):
        self.name = name
        self.type_name = type_name
        self.comment = comment
        matched = TYPES.fullmatch(type_name)
        self.is_known = matched is not None
        self.scale = int(matched["scale"]) if matched and matched["scale"] else None
        self.is_instant = type_name == "timestamp with time zone"
        self.is_number = type_name in ("bigint", "integer") or self.scale is not None

    @property
    def duckdb_types(self):
        """What DuckDB may find by itself in a file; None: whatever it likes."""
        if self.is_number:
            return r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DOUBLE|FLOAT|DECIMAL\(.*\)"
        if self.is_instant:
            return r"TIMESTAMP.*"
        return {"boolean": "BOOLEAN", "date": "DATE"}.get(self.type_name)

    @property
    def spelling(self):
        """How the exports write it; None: not looked at."""
        return {
            "boolean": "true|false",
            "date": "[0-9]{4}-[0-9]{2}-[0-9]{2}",
            "timestamp with time zone": "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?Z",
        }.get(self.type_name)


# The catalogue

def views_of(connection):
    """Each view with its comment and columns, as the catalogue has them."""
    views = {}
    for view, comment, name, type_name, column_comment in connection.execute("""
        SELECT view.relname, obj_description(view.oid, 'pg_class'), attribute.attname,
          format_type(attribute.atttypid, attribute.atttypmod), col_description(view.oid, attribute.attnum)
        FROM pg_class AS view
        JOIN pg_attribute AS attribute ON attribute.attrelid = view.oid
        WHERE view.relnamespace = 'fuel_v1'::regnamespace AND view.relkind IN ('v', 'm', 'r', 'p', 'f')
          AND attribute.attnum > 0 AND NOT attribute.attisdropped
        ORDER BY view.relname, attribute.attnum"""):
        views.setdefault(view, (comment, []))[1].append(Column(name, type_name, column_comment))
    return views


def check_catalogue(view, comment, columns):
    require(comment, f"{view}: the view has no comment")
    for column in columns:
        require(column.comment, f"{view}.{column.name}: the column has no comment")
        require(column.is_known, f"{view}.{column.name}: its type {column.type_name} is none of the interface's")


# The views

def check_frame(view, columns, frame):
    names = [column.name for column in columns]
    require_columns(view, frame.columns, names)
    for column in columns:
        place = f"{view}.{column.name}"
        values = frame[column.name].dropna()
        if values.empty:
            continue
        if column.is_instant:
            dtype = values.dtype
            require(isinstance(dtype, pandas.DatetimeTZDtype), f"{place}: {dtype} has no time zone")
            require(str(dtype.tz) == "UTC", f"{place}: in {dtype.tz} and not in UTC")
        elif column.scale is not None:
            for value in values:
                require(isinstance(value, decimal.Decimal) and value.is_finite(), f"{place}: {value!r} is no number")
                printed = format(value, "f")
                # A float has some sixteen digits, and an exact mean more.
                require(
                    format(float(value), f".{column.scale}f") == printed
                    or column.scale > 12 and abs(decimal.Decimal(float(value)) - value) < decimal.Decimal("1e-12"),
                    f"{place}: {printed} is {float(value)!r} as a float")
        else:
            expected = {"text": str, "boolean": bool, "date": datetime.date}.get(column.type_name)
            if expected:
                odd = next((value for value in values if not isinstance(value, expected)), None)
                require(odd is None, f"{place}: {odd!r} is no {expected.__name__}")
            else:
                require(pandas.api.types.is_numeric_dtype(values), f"{place}: {values.dtype} is no number")


def read_view(connection, view, columns):
    query = sql.SQL("SELECT * FROM {} LIMIT {}").format(sql.Identifier("fuel_v1", view), MOST_ROWS)
    try:
        cursor = connection.execute(query)
        names = [description.name for description in cursor.description]
        frame = pandas.DataFrame(cursor.fetchall(), columns=names)
    except psycopg.Error as error:
        raise Broken(f"{view}: cannot be read: {error}") from error
    check_frame(view, columns, frame)
    return frame


# The functions

def sensible_arguments(connection):
    """By parameter name: of a price that is there, or of none where the database is empty."""
    row = connection.execute("""
        SELECT price.station_id, price.fuel, price.state AS region, price.latitude, price.longitude,
          pipeline.now_at - make_interval(hours => price.delay_hours) AS at
        FROM fuel_v1.current_prices AS price, fuel_v1.pipeline
        WHERE price.is_fresh AND price.latitude IS NOT NULL
        ORDER BY price.fuel DESC, price.station_id LIMIT 1""")
    found = row.fetchone()
    if found is None:
        found = (1, "U91", "NSW", -33.8688, 151.2093, datetime.datetime.now(datetime.timezone.utc))
    arguments = dict(zip([description.name for description in row.description], found))
    return arguments | {
        "radius_km": 25, "max_stations": 10, "days": 30,
        "from": arguments["at"] - datetime.timedelta(days=1), "to": arguments["at"],
        "first_day": arguments["at"].date() - datetime.timedelta(days=2), "last_day": arguments["at"].date()}


def call_functions(connection):
    arguments = sensible_arguments(connection)
    functions = connection.execute("""
        SELECT function.oid, function.proname, function.pronargs, function.proargnames,
          ARRAY(SELECT format_type(parameter, NULL) FROM unnest(function.proargtypes) AS parameter),
          function.proretset, obj_description(function.oid, 'pg_proc')
        FROM pg_proc AS function
        WHERE function.pronamespace = 'fuel_v1'::regnamespace
        ORDER BY function.proname, function.oid""").fetchall()
    for _, name, count, names, types, returns_rows, comment in functions:
        require(comment, f"{name}(): the function has no comment")
        names = (names or [])[:count]
        require(len(names) == count and all(names), f"{name}(): a parameter has no name")
        for parameter in names:
            require(parameter in arguments, f"{name}(): no argument is known here for its parameter {parameter}")
        call = sql.SQL("SELECT * FROM {}({})").format(
            sql.Identifier("fuel_v1", name),
            sql.SQL(", ").join(
                sql.SQL("{} => {}::{}").format(
                    sql.Identifier(parameter), sql.Placeholder(parameter), sql.SQL(type_name))
                for parameter, type_name in zip(names, types)))
        try:
            rows = connection.execute(call, {parameter: arguments[parameter] for parameter in names}).fetchall()
        except psycopg.Error as error:
            raise Broken(f"{name}(): cannot be called: {error}") from error
        require(returns_rows or len(rows) == 1, f"{name}(): {len(rows)} rows and not one")
        print(f"{name}(): {counted(len(rows), 'row')}")
    return len(functions)


# The exports

def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def literal(text):
    return "'" + str(text).replace("'", "''") + "'"


def totals_in_database(connection, view, columns):
    """Rows, then per column how many cells are not empty, then the sums of numbers, then cells to be guarded."""
    texts = [column for column in columns if column.type_name == "text"]
    wanted = [sql.SQL("count(*)")]
    for column in columns:
        cell = sql.Identifier(column.name)
        # A CSV file cannot distinguish an empty text from NULL.
        wanted.append((sql.SQL("count(nullif({}, ''))") if column in texts else sql.SQL("count({})")).format(cell))
    for column in columns:
        if column.is_number:
            wanted.append(sql.SQL("coalesce(sum({}), 0)::numeric").format(sql.Identifier(column.name)))
    formulas = [
        sql.SQL("count(*) FILTER (WHERE {cell} ~ {formula} AND {cell} !~ {number} OR {cell} ~ {guarded})").format(
            cell=sql.Identifier(column.name), formula=FORMULA, number=NUMBER, guarded=GUARDED)
        for column in texts]
    query = sql.SQL("SELECT {} FROM {}").format(
        sql.SQL(", ").join(wanted + formulas), sql.Identifier("fuel_v1", view))
    row = list(connection.execute(query).fetchone())
    split = len(wanted)
    return row[0], row[1:len(columns) + 1], row[len(columns) + 1:split], row[split:]


def check_export(connection, path, columns):
    view = path.stem
    count, filled, sums, formulas = totals_in_database(connection, view, columns)
    names = [column.name for column in columns]
    numbers = [column for column in columns if column.is_number]
    place = path.name
    if path.suffix == ".csv":
        with path.open("rb") as file:
            header = file.readline()
        require(header.endswith(b"\n") and not header.endswith(b"\r\n"), f"{place}: its header does not end in LF")
        dialect = "header = true, delim = ',', quote = '\"', escape = '\"'"
        source = f"read_csv({literal(path)}, {dialect}, sample_size = -1)"
        plain = f"read_csv({literal(path)}, {dialect}, all_varchar = true)"
    elif path.stat().st_size == 0:
        require(count == 0, f"{place}: is empty, the view has {count} rows")
        return 0
    else:
        source = f"read_json({literal(path)}, format = 'newline_delimited', sample_size = -1)"
        texts = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in names)
        plain = f"read_json({literal(path)}, format = 'newline_delimited', columns = {{{texts}}})"
    with duckdb.connect() as files:
        try:
            described = files.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
            found = {name: type_name for name, type_name, *_ in described}
            require_columns(place, found, names)
            cells = [
                f"count(nullif({quoted(column.name)}::VARCHAR, ''))"
                if column.type_name == "text" else f"count({quoted(column.name)})" for column in columns]
            row = files.execute(f"SELECT count(*), {', '.join(cells)} FROM {source}").fetchone()
            require(row[0] == count, f"{place}: has {row[0]} rows, the view has {count}")
            for column, here, there in zip(columns, row[1:], filled):
                cell = f"{place}: {column.name}"
                require(here == there, f"{cell} has {here} cells that are not empty, the view has {there}")
                if there and column.duckdb_types:
                    require(
                        re.fullmatch(column.duckdb_types, found[column.name]),
                        f"{cell} is read as {found[column.name]}, and is {column.type_name} in the view")
            for column, there in zip(numbers, sums):
                cell = quoted(column.name)
                total = f"SELECT coalesce(sum({cell}::DECIMAL(38, 6)), 0) FROM {source}"
                here = files.execute(total).fetchone()[0]
                # Exact means have more digits than are added here.
                most = count * decimal.Decimal("5e-7") if (column.scale or 0) > 6 else 0
                require(
                    abs(here - there) <= most,
                    f"{place}: {column.name} adds up to {here}, in the view to {there}")
            check_spelling(files, place, plain, columns)
            if path.suffix == ".csv":
                check_guards(files, place, plain, columns, formulas)
        except duckdb.Error as error:
            raise Broken(f"{place}: cannot be read: {error}") from error
    return count


def check_spelling(files, place, plain, columns):
    """Booleans, days and instants, letter by letter."""
    for column in columns:
        if column.spelling:
            cell = quoted(column.name)
            odd = files.execute(
                f"SELECT min({cell}) FROM {plain} WHERE NOT regexp_full_match({cell}, {literal(column.spelling)})")
            odd = odd.fetchone()[0]
            require(odd is None, f"{place}: {column.name} has {odd!r}, which is no {column.type_name} as we write it")


def check_guards(files, place, plain, columns, formulas):
    """A text that a spreadsheet would take for a formula begins with a single quote."""
    for column, there in zip([column for column in columns if column.type_name == "text"], formulas):
        cell = quoted(column.name)
        bare, guarded = files.execute(f"""
            SELECT
              count(*) FILTER (WHERE regexp_matches({cell}, {literal(FORMULA)})
                AND NOT regexp_matches({cell}, {literal(NUMBER)})),
              count(*) FILTER (WHERE regexp_matches({cell}, {literal(GUARDED)}))
            FROM {plain}""").fetchone()
        require(bare == 0, f"{place}: {column.name} has {bare} cells that begin with = + - or @ unguarded")
        require(guarded == there, f"{place}: {column.name} has {guarded} guarded cells and not {there}")


def check_exports(connection, folder, views):
    require(folder.is_dir(), f"{folder}: is no folder")
    paths = sorted(path for path in folder.iterdir() if path.suffix in (".csv", ".ndjson"))
    require(paths, f"{folder}: has no .csv and no .ndjson")
    for path in paths:
        require(path.stem in views, f"{path.name}: there is no such view")
        rows = check_export(connection, path, views[path.stem][1])
        print(f"{path.name}: {counted(rows, 'row')} like the view")
    return len(paths)


def main():
    parser = argparse.ArgumentParser(description="Reads all of fuel_v1 and checks what readers rely on.")
    parser.add_argument("--exports", metavar="DIR", type=pathlib.Path, help="check the exports in this folder too")
    options = parser.parse_args()
    connection = psycopg.connect()
    connection.read_only = True
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    with connection:
        connection.execute("SET LOCAL TIME ZONE 'UTC'")
        views = views_of(connection)
        require(views, "the schema fuel_v1 has no views")
        comment = connection.execute("SELECT obj_description('fuel_v1'::regnamespace, 'pg_namespace')").fetchone()[0]
        require(comment, "the schema fuel_v1 has no comment")
        for view, (comment, columns) in views.items():
            check_catalogue(view, comment, columns)
            frame = read_view(connection, view, columns)
            print(f"{view}: {counted(len(frame), 'row')}, {counted(len(columns), 'column')}")
        functions = call_functions(connection)
        print(f"{functions} functions called")
        if options.exports:
            print(f"{check_exports(connection, options.exports, views)} exports agree")
    print(f"{len(views)} views read")


if __name__ == "__main__":
    try:
        main()
    except (Broken, psycopg.OperationalError) as error:
        sys.exit(f"readers.py: {error}")
