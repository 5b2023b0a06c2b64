"""Runs the recipes of docs/recipes.md as far as that goes without the programs that they are for.

    recipes.py DOCUMENTS REPORT BOWSER

DOCUMENTS is the folder of the documents, REPORT one that `bowser report` wrote, BOWSER the program. The PG*
variables lead to the database, as its owner.
"""

import json
import pathlib
import re
import subprocess
import sys
import urllib.parse

import connectorx
import duckdb
import feedparser
import jinja2
import jsonschema
import polars
import psycopg
import yaml

URI = "postgresql://"


def require(holds, *words):
    if not holds:
        raise SystemExit("recipes.py: " + " ".join(str(word) for word in words))


def block(text, name):
    found = re.search(rf"<!-- run: {name} -->\n```sql\n(.*?)```", text, re.S)
    require(found, f"the recipe {name} is gone")
    return found[1]


def arrow(text, connection):
    made = subprocess.run(
        ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1"], input=block(text, "arrow"), text=True, capture_output=True)
    require(made.returncode == 0, "the schema for Arrow:", made.stderr)
    views = connection.execute("""
        SELECT relname FROM pg_class WHERE relnamespace = 'fuel_v1'::regnamespace AND relkind = 'v' ORDER BY 1
        """).fetchall()
    require(len(views) > 25, f"{len(views)} views")
    types = connection.execute("""
        SELECT DISTINCT atttypid::regtype::text
        FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
        WHERE relnamespace = 'fuel_float'::regnamespace AND relkind = 'v' AND attnum > 0""").fetchall()
    require("numeric" not in {name for (name,) in types}, "a numeric is left")
    query = "SELECT region, average_cpl FROM fuel_float.daily_averages WHERE fuel = 'U91' AND average_cpl IS NOT NULL"
    expected = dict(connection.execute(f"SELECT region, avg(average_cpl) FROM ({query}) AS days GROUP BY region").fetchall())
    require(len(expected) > 8, f"{len(expected)} regions")
    days = polars.read_database_uri(query, URI, engine="adbc")
    require(days.schema["average_cpl"] == polars.Float64, days.schema)
    found = {"polars": dict(days.group_by("region").agg(polars.col("average_cpl").mean()).iter_rows())}
    host, user, name = connection.info.host, connection.info.user, connection.info.dbname
    # connectorx reads no PG* variables, so the address contains everything.
    address = f"postgresql://{user}@{urllib.parse.quote(host, safe='')}:{connection.info.port}/{name}"
    frame = connectorx.read_sql(address, query)
    require(str(frame["average_cpl"].dtype) == "float64", frame.dtypes)
    found["connectorx"] = frame.groupby("region")["average_cpl"].mean().to_dict()
    found["duckdb"] = dict(duckdb.sql("SELECT region, avg(average_cpl) FROM days GROUP BY region").fetchall())
    for client, means in found.items():
        require(means.keys() == expected.keys(), f"{client}: other regions")
        for region, mean in means.items():
            require(abs(mean - float(expected[region])) < 1e-9, f"{client}: {region} is {mean} and not {expected[region]}")
    cheap = polars.read_database_uri("SELECT * FROM fuel_float.current_prices", URI, engine="adbc")
    below = cheap.filter(polars.col("price_cpl") < 170).height
    (count,) = connection.execute("SELECT count(*) FROM fuel_v1.current_prices WHERE price_cpl < 170").fetchone()
    require(below == count, f"polars finds {below} prices below 170, there are {count}")
    connection.execute("DROP SCHEMA fuel_float CASCADE")
    print("arrow:", ", ".join(found))


def parquet(text, bowser, folder):
    line = re.search(r"    bowser (export daily_averages) \| duckdb -c \"(.*)\"\n", text)
    require(line, "the line for Parquet is gone")
    exported = subprocess.run([bowser, *line[1].split()], capture_output=True, check=True).stdout
    subprocess.run(
        [sys.executable, "-c", "import duckdb, sys; duckdb.sql(sys.argv[1])", line[2]],
        input=exported, cwd=folder, check=True)
    path = folder / "days.parquet"
    rows, mean = duckdb.sql(f"SELECT count(*), avg(average_cpl) FROM '{path}'").fetchall()[0]
    require(rows == exported.count(b"\n") - 1 and mean > 100, f"{rows} rows, {mean}")
    path.unlink()
    print("parquet:", rows, "rows")


def home_assistant(text, report, connection):
    found = re.search(r"```yaml\n(.*?)```", text, re.S)
    sensors = yaml.safe_load(found[1])["rest"][0]["sensor"]
    value = json.loads((report / "api/v1/market.json").read_text())
    told = [jinja2.Environment().from_string(sensor["value_template"]).render(value_json=value) for sensor in sensors]
    average, verdict = connection.execute("""
        SELECT averages_now.average_cpl, verdict
        FROM fuel_v1.averages_now JOIN fuel_v1.fill_up USING (region, fuel)
        WHERE region = 'perth' AND fuel = 'U91'""").fetchone()
    require(told[1] == verdict and abs(float(told[0]) - float(average)) < 1e-9, f"{told}, {average}, {verdict}")
    print("Home Assistant:", told)


def postgrest(text, configuration, connection):
    lines = [line for line in configuration.read_text().splitlines() if line and not line.startswith("#")]
    settings = dict(line.split(" = ", 1) for line in lines)
    require(settings["db-schemas"] == '"fuel_v1"', settings)
    role = settings["db-anon-role"].strip('"')
    connection.execute(block(text, "postgrest"))
    try:
        (_, login) = re.match(r'"postgres://((\w+)@)', settings["db-uri"]).groups()
        with psycopg.connect(user=login, autocommit=True) as web:
            web.execute(f"SET ROLE {role}")
            for view in ["current_prices", "averages_now", "fill_up"]:
                require(web.execute(f"SELECT 1 FROM fuel_v1.{view} LIMIT 1").fetchone(), f"{view} is empty")
            call = re.search(r"/rpc/(\w+)\?([\w=.&-]+)", text)
            arguments = ", ".join(part.replace("=", " => ", 1) for part in call[2].split("&"))
            require(web.execute(f"SELECT * FROM fuel_v1.{call[1]}({arguments})").fetchall(), call[0])
            for statement in ["DELETE FROM fuel_v1.current_prices", "SELECT 1 FROM fuel.price LIMIT 1"]:
                try:
                    web.execute(statement)
                except (psycopg.errors.InsufficientPrivilege, psycopg.errors.ObjectNotInPrerequisiteState):
                    continue
                require(False, f"{role} may {statement}")
    finally:
        connection.execute("DROP ROLE postgrest; DROP ROLE fuel_web")
    print("PostgREST:", len(settings), "settings")


def files(documents, report, connection):
    schema = json.loads((documents / "json.schema.json").read_text())
    points = 0
    for path in sorted((report / "api").rglob("*json")):
        folder = path.parent.name
        name = {"v1": path.stem, "prices": "points"}.get(folder, folder)
        value = json.loads(path.read_text())
        jsonschema.validate(value, schema | {"$ref": f"#/$defs/{name}"}, jsonschema.Draft202012Validator)
        if name == "points" and value["features"]:
            opened = subprocess.run(
                ["ogrinfo", "-ro", "-al", "-so", str(path)], capture_output=True, text=True, check=True).stdout
            require("Geometry: Point" in opened and "price_cpl: Real" in opened, f"{path}: {opened}")
            points += int(re.search(r"Feature Count: (\d+)", opened)[1])
    (count,) = connection.execute(
        "SELECT count(*) FROM fuel_v1.current_prices WHERE is_public AND latitude IS NOT NULL").fetchone()
    require(points == count, f"GDAL finds {points} points, there are {count}")
    feeds = sorted((report / "feed").glob("*.atom"))
    for path in feeds:
        feed = feedparser.parse(path.read_bytes())
        require(not feed.bozo and feed.version == "atom10" and feed.feed.id and feed.feed.updated, f"{path}: {feed}")
        ids = [entry.id for entry in feed.entries]
        require(len(ids) == len(set(ids)) and all(entry.updated and entry.title for entry in feed.entries), path)
    print(f"files: {points} points by GDAL, {len(feeds)} Atom feeds")


def main():
    documents, report, bowser = map(pathlib.Path, sys.argv[1:])
    text = (documents / "recipes.md").read_text()
    with psycopg.connect(autocommit=True) as connection:
        arrow(text, connection)
        parquet(text, bowser, report.parent)
        home_assistant(text, report, connection)
        postgrest(text, documents.parent / "contrib/postgrest/postgrest.conf", connection)
        require(connection.execute(block(text, "metabase")).fetchall(), "Metabase's question has no answer")
        files(documents, report, connection)


main()
