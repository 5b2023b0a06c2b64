/// The program `bowser-simulate` runs this command: `Sources/simulate/Simulation.swift`.
package let simulateCommand = Command(
  name: "simulate",
  summary: "A synthetic market in the feeds' own protocols: no key, no network.",
  operands: "play | serve | record | archive",
  examples: [
    ("bowser simulate play --days 45", "play 45 days: fetch, store and aggregate each"),
    ("bowser simulate serve --port 8077", "serve every provider at 127.0.0.1:8077 until stopped"),
    (
      "bowser simulate serve --fault server-error-503",
      "serve a fault; `--fault list` lists the faults"
    ),
    (
      "bowser simulate archive --days 400 --out DIR",
      "write the past as three states publish it, one file per month"
    ),
    (
      "bowser simulate record --out DIR",
      "write what the feeds would answer, as ingest --record does"
    ),
  ],
  options: [
    .init(name: "days", value: "N", about: "how many past days the market has (default 45)"),
    .init(
      name: "stations", value: "N",
      about: "about how many stations the market has, from 20 to 20000 (default 330)"),
    .init(name: "seed", value: "N", about: "each number gives another market (default 1)"),
    .init(name: "port", value: "N", about: "with serve: the port to listen on (default 8077)"),
    .init(
      name: "fault", value: "NAME",
      about: "with serve: spoil every answer with this fault; `list` lists the faults"),
    .init(name: "out", value: "DIR", about: "with record and archive: the folder"),
    .init(
      name: "archived",
      about: "with play: begin where the archives of the same days, stations and seed end"),
    .init(
      name: "every", value: "HOURS",
      about: "with play and record: hours between fetches (default 4)"),
  ],
  notes: """
    `archive` writes the whole months up to two weeks ago to DIR/nsw-fuelcheck, DIR/qld-fuel-prices and
    DIR/wa-fuelwatch, for bowser backfill. The same --seed, --stations, --days and --now give the same
    market. `play` refuses a database that has answers of real providers.
    `serve` prints the settings that point bowser to it, for eval or a file.
    """,
  deadlineSeconds: 0
)
