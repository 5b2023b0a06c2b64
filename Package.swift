// swift-tools-version: 6.2
import PackageDescription

// Targets are floors: a module imports only from floors below it, and its dependency list is the
// wall. There are no package dependencies; libpq is the one library outside the toolchain.

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

/// The tests run the program as cron runs it: optimised, in a debug build too.
let product = strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// A library of this package, with the libraries below it that it may import.
func library(_ name: String, on below: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: below, swiftSettings: product)
}

/// The tests of one module.
func tests(
  _ name: String, on below: [Target.Dependency], hasFixtures: Bool = false,
  settings: [SwiftSetting] = strict
) -> Target {
  .testTarget(
    name: name, dependencies: below, exclude: hasFixtures ? ["Fixtures"] : [],
    swiftSettings: settings)
}

/// What `bowser --version` tells; the Makefile asks git.
let commit = Context.environment["BOWSER_COMMIT"] ?? "unknown"

let package = Package(
  name: "bowser",
  products: [
    .executable(name: "bowser", targets: ["bowser"]),
    .executable(name: "bowser-simulate", targets: ["simulate"]),
  ],
  targets: [
    // 0: what is not Swift
    .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .target(
      name: "CMigrations", path: "Migrations",
      exclude: ["order", "released.sha256", "routines", "schema", "views"],
      sources: ["migrations.c"]),
    .target(name: "CSandbox"),
    .target(
      name: "CVersion", cSettings: [.define("BOWSER_COMMIT", to: "\"\(commit)\"")]),

    // 1: know nothing of each other
    library("Postgres", on: ["CPostgres", "CMigrations"]),
    library("HTTP"),
    library("Logging"),
    library("Configuration"),
    library("FuelModel"),

    // 2: feeds cannot see the database, the store cannot see the network; what the numbers mean is
    // computed without either
    library("Timeline", on: ["FuelModel"]),
    library("Trends", on: ["FuelModel"]),
    library("Feeds", on: ["FuelModel", "HTTP", "Configuration"]),
    library("Archives", on: ["FuelModel", "Configuration"]),
    library("Views", on: ["FuelModel", "Postgres"]),
    library("Store", on: ["FuelModel", "Postgres", "Timeline", "Views"]),
    library("Simulator", on: ["FuelModel"]),

    // 3: both sides meet
    library(
      "Pipeline",
      on: [
        "Feeds", "Archives", "Store", "Views", "Timeline", "Trends", "FuelModel", "HTTP", "Logging",
        "Configuration",
      ]),

    library("Report", on: ["Views", "FuelModel"]),

    // 4: the command line
    library(
      "Console",
      on: [
        "Pipeline", "Report", "Feeds", "Archives", "Store", "Views", "Timeline", "Trends",
        "Postgres", "HTTP", "Logging", "Configuration", "FuelModel", "CVersion", "CSandbox",
      ]),

    // 5: the programs. The one that reads real prices does not contain the simulator.
    .executableTarget(name: "bowser", dependencies: ["Console"], swiftSettings: product),
    .executableTarget(
      name: "simulate",
      dependencies: [
        "Console", "Simulator", "Pipeline", "Feeds", "Store", "HTTP", "Configuration", "FuelModel",
      ],
      swiftSettings: product),

    // What `make bench` runs
    .executableTarget(
      name: "bench",
      dependencies: ["Simulator", "Pipeline", "Store", "Timeline", "Postgres", "FuelModel"],
      exclude: ["Peers"], swiftSettings: strict),

    // What `make fuzz` runs
    .executableTarget(name: "fuzz", dependencies: ["Fuzzing"], swiftSettings: strict),
    .target(
      name: "Fuzzing",
      dependencies: ["Feeds", "Archives", "Report", "FuelModel", "Logging", "Configuration"],
      path: "Tests/Fuzzing", exclude: ["Corpus"], swiftSettings: product),

    // Tests, one folder per module
    .target(
      name: "TestDatabase",
      dependencies: [
        "Postgres", "Store", "Views", "Pipeline", "Timeline", "Simulator", "Logging", "FuelModel",
      ],
      path: "Tests/TestDatabase", exclude: ["Fixtures"],
      swiftSettings: strict),
    // Shares no code with the product that it is held against.
    .target(
      name: "PlainModel", dependencies: [], path: "Tests/PlainModel", swiftSettings: product),
    tests("FuelModelTests", on: ["FuelModel"]),
    tests("ConfigurationTests", on: ["Configuration", "Feeds"]),
    tests("HTTPTests", on: ["HTTP", "Simulator"]),
    tests("PostgresTests", on: ["Postgres", "TestDatabase"]),
    // These two compute a lot themselves, so they are optimised.
    tests("TimelineTests", on: ["Timeline", "FuelModel", "Simulator"], settings: product),
    tests(
      "TrendsTests", on: ["Trends", "FuelModel", "Simulator", "TestDatabase"], hasFixtures: true,
      settings: product),
    tests(
      "FeedsTests",
      on: ["Feeds", "FuelModel", "HTTP", "Simulator", "Configuration", "TestDatabase", "Fuzzing"],
      hasFixtures: true),
    tests(
      "StoreTests",
      on: ["Pipeline", "Store", "Views", "FuelModel", "Postgres", "Simulator", "TestDatabase"],
      hasFixtures: true),
    tests(
      "PipelineTests",
      on: [
        "Pipeline", "Simulator", "Feeds", "Archives", "Store", "Views", "Trends", "Postgres",
        "FuelModel", "HTTP", "Logging", "Configuration", "TestDatabase", "PlainModel",
      ],
      hasFixtures: true),
    tests("ArchivesTests", on: ["Archives", "FuelModel", "Fuzzing"], hasFixtures: true),
    tests("FuzzTests", on: ["Fuzzing"]),
    tests(
      "CommandTests",
      on: [
        "bowser", "simulate", "Pipeline", "Report", "Store", "Views", "Postgres", "Logging",
        "TestDatabase", "Simulator", "FuelModel", "Trends",
      ],
      hasFixtures: true),
  ]
)
