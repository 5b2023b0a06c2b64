# Bowser: everything a person or cron does from a checkout. `make` alone lists it.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo setup build test test-long bench picture faults mutants soak fuzz lint format psql env stop install uninstall deb static docs integrations packages

PREFIX ?= /usr/local
DESTDIR ?=
# The SQL files as they stand in their list, the program, and the import check that keeps modules on their floors.
BUILD := config/migrations && swift build --explicit-target-dependency-import-check error
# No test reads debug information. Without it this takes a seventh less time, and a sixth of the disk.
TESTS := $(BUILD) --build-tests -debug-info-format none
PROGRAM := .build/release/bowser
export BOWSER_COMMIT := $(shell git describe --always --dirty=+ --abbrev=12 --exclude='*' 2>/dev/null || echo unknown)
# make install PROGRAM=... takes a program as it is, and builds none.
GIVEN := $(filter command,$(origin PROGRAM))
# Settings of the caller that would lead away from the private cluster.
PRIVATE := unset BOWSER_DATABASE PGSERVICE && export BOWSER_CONFIG=config
# The market of the demo.
DEMO := --days 400
# Which database of the private cluster `psql` and `env` mean: the one that was made last.
DB ?= $(shell cat .bowser/database 2>/dev/null || echo bowser)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## set up, load a simulated year of archives, simulate the weeks since, show the market: needs no key
	@config/cluster start
	@config/cluster create demo fresh
	@eval "$$(config/cluster env demo)" && $(PRIVATE) && \
	  $(PROGRAM) migrate && \
	  echo "A year of a simulated market, as three states publish their archives." && \
	  rm -rf .bowser/archives && $(PROGRAM) simulate archive $(DEMO) --out .bowser/archives && \
	  for archive in nsw-fuelcheck qld-fuel-prices wa-fuelwatch; do \
	    $(PROGRAM) backfill $$archive .bowser/archives/$$archive/*.csv || exit; \
	  done && \
	  echo "Simulating the weeks since: every feed over HTTP, in its own protocol." && \
	  $(PROGRAM) simulate play $(DEMO) --archived --every 6 && \
	  echo "Scoring the advice on the past." && \
	  $(PROGRAM) backtest >.bowser/backtest.txt && \
	  $(PROGRAM) report --out .bowser/report && \
	  $(PROGRAM) show
	@printf '%s\n' \
	  'As a site:     file://$(CURDIR)/.bowser/report/index.html' \
	  'Look around:   make psql          then  SELECT * FROM fuel_v1.averages_now;' \
	  'Scores:        .bowser/backtest.txt' \
	  'Real prices:   make setup         then  docs/getting-started.md for keys; WA and the NT need none' \
	  'From cron:     docs/getting-started.md has the lines'

setup: build ## a private database for real prices, ready for bowser ingest
	@config/cluster start
	@config/cluster create bowser
	@eval "$$(config/cluster env bowser)" && $(PRIVATE) && $(PROGRAM) setup
	@echo 'first in each shell:  eval "$$(make -s env)"; export BOWSER_CONFIG="$(CURDIR)/config"'

build: packages ## the release program, and bowser-simulate beside it
	@echo 'Building with $(shell swift --version 2>/dev/null | head -n 1): about six minutes the first time.'
	@$(BUILD) --quiet -c release --product bowser
	@$(BUILD) --quiet -c release --product bowser-simulate

test: packages ## the tests, beside a PostgreSQL of their own
	@$(TESTS)
	@config/cluster throwaway config/tests short

test-long: packages ## the long proofs: more seeds, more kills, soaks, whole archives
	@$(TESTS)
	@config/cluster throwaway config/tests long

# Ten minutes on two cores. DuckDB takes part where Python has it: config/cluster tools installs it.
bench: packages ## speed, as ratios to PostgreSQL and DuckDB: docs/benchmarks.md has its settings
	@config/cluster start
	@$(BUILD) -c release --product bowser
	@$(BUILD) -c release --product bench
	@eval "$$(config/cluster env postgres)" && $(PRIVATE) && .build/release/bench

soak: packages ## 5,000 requests among random faults, and 30 days at the real cadence
	@$(TESTS)
	@SOAK_REQUESTS=5000 config/cluster throwaway swift test --skip-build --filter aSoakOfFaults
	@SOAK_DAYS=30 config/cluster throwaway swift test --skip-build --filter weeksAtTheRealCadence

# libFuzzer and the address sanitizer are the toolchain's. What breaks a reader goes to Tests/Fuzzing/Corpus, mended.
FUZZ_SECONDS ?= 20
FUZZ_TARGET ?=
export FUZZ_TARGET
LIBFUZZER = $(wildcard $(dir $(shell realpath "$$(command -v swiftc)"))../lib/clang/*/lib/linux/libclang_rt.fuzzer_no_main-$(shell uname -m).a)
fuzz: packages ## every reader and escaping by libFuzzer: FUZZ_SECONDS each, or one FUZZ_TARGET
	@$(BUILD) -c release --product fuzz --scratch-path .build/fuzz --sanitize=address \
	  -Xswiftc -Xfrontend -Xswiftc -sanitize=address,fuzzer -Xlinker --whole-archive \
	  -Xlinker $(LIBFUZZER) -Xlinker --no-whole-archive -Xlinker -lstdc++ -Xlinker --export-dynamic
	@for target in $${FUZZ_TARGET:-$$(.build/fuzz/release/fuzz)}; do \
	  corpus=.build/fuzz/corpus/$$target; mkdir -p $$corpus; echo "== $$target"; \
	  .build/fuzz/release/fuzz $$target seeds $$corpus; \
	  ASAN_OPTIONS=detect_leaks=0 .build/fuzz/release/fuzz $$target -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=2048 \
	    -detect_leaks=0 -verbosity=0 -artifact_prefix=.build/fuzz/ $$corpus \
	    $$([ ! -d Tests/Fuzzing/Corpus/$$target ] || echo Tests/Fuzzing/Corpus/$$target); \
	done

# One after the other, most of an hour: each is a build and its test.
mutants: packages ## break the program on purpose, a fault at a time, and see its test fail: MUTANTS="F-Z10 F-G08"
	@config/mutants $(MUTANTS)

faults: ## which faults of docs/faults.md are proven: a test names them, and their mutant was killed
	@mkdir -p .build && touch .build/mutants.results
	@awk -F '|' '/^\| F-/ { gsub(/ /, "", $$2); print $$2 }' docs/faults.md | sort > .build/faults.all
	@grep -rohE --include='*.swift' 'F-[A-Z][0-9]{2}' Tests | sort -u | comm -12 .build/faults.all - > .build/faults.named
	@config/mutants list | awk -F '\t' '{ print $$1, "killed", $$2 }' | grep -F -f - .build/mutants.results | cut -d ' ' -f 1 | \
	  sort | comm -12 .build/faults.named - > .build/faults.proven || true
	@config/mutants list | cut -f 1 | sort | comm -12 .build/faults.named - > .build/faults.mutants
	@echo "proven, a test names them and their mutant died: $$(tr '\n' ' ' < .build/faults.proven)"
	@echo "tested, their mutant was not run or lived: $$(comm -23 .build/faults.mutants .build/faults.proven | tr '\n' ' ')"
	@echo "tested, without a mutant: $$(comm -23 .build/faults.named .build/faults.mutants | tr '\n' ' ')"
	@echo "not tested: $$(comm -23 .build/faults.all .build/faults.named | tr '\n' ' ')"
	@echo "$$(wc -l < .build/faults.proven) of $$(wc -l < .build/faults.all) proven"

lint: ## formatting, warnings and imports
	@swift format lint --strict --recursive Sources Tests Package.swift
	@$(TESTS)

format: ## let swift format decide
	@swift format --in-place --recursive Sources Tests Package.swift

psql: ## psql on the private cluster; SQL on standard input works
	@config/cluster start
	@eval "$$(config/cluster env $(DB))" && psql -v ON_ERROR_STOP=1 $(ARGS)

env: ## print the variables with which any tool reaches the private cluster
	@config/cluster start
	@config/cluster env $(DB)

stop: ## stop the private cluster; its data stay
	@config/cluster stop

docs: packages ## docs/views.md, from the comments in the database
	@$(TESTS)
	@$(PRIVATE) && config/cluster throwaway bash -euc '\
	  .build/debug/bowser migrate; \
	  psql -X -q -f docs/views.sql > docs/views.md'

picture: packages ## docs/site.png, the picture in README.md, by chromium
	@$(TESTS)
	@mkdir -p .build/picture
	@PICTURE="$(CURDIR)/.build/picture" config/cluster throwaway swift test --skip-build --filter thePictureIsOfThisSite || true
	@chromium --headless --no-sandbox --hide-scrollbars --disable-gpu --window-size=1000,760 \
	  --screenshot=docs/site.png "file://$(CURDIR)/.build/picture/index.html"

# What other programs make of it, and the tests on newer servers: most of an hour. `make test` skips them.
integrations: packages ## dbt, pandas, DuckDB, promtool, systemd, a browser, PostgreSQL 17 and 18: installs them, runs their tests
	@config/cluster tools
	@$(TESTS)
	@REQUIRE_TOOLS=1 config/cluster throwaway swift test --skip-build --filter 'IntegrationTests|poolersAreTold'
	@for server in "$(CURDIR)"/.build/tools/servers/*/pginstall/bin; do \
	  "$$server/postgres" --version && POSTGRES_BIN="$$server" config/cluster throwaway config/tests short || exit; \
	done

# With the Swift runtime in it: any user can start it, whoever may read the toolchain.
install: $(if $(GIVEN),,static) ## install below PREFIX (and DESTDIR)
	@contrib/install tree $(if $(GIVEN),$(PROGRAM),.build/static/release/bowser) "$(PREFIX)" .build/stage
	@contrib/install copy .build/stage "$(DESTDIR)$(PREFIX)"
	@rm -rf .build/stage

uninstall: ## take back what install did; /etc/bowser stays
	@contrib/install remove "$(DESTDIR)$(PREFIX)"

# The Swift runtime goes into the programs, because Debian has no package of it; libcurl and libxml2 do not.
deb: $(if $(GIVEN),,static) ## a Debian package in .build/deb/
	@contrib/debian/build $(if $(GIVEN),$(PROGRAM),.build/static/release/bowser)

static:
	@config/cluster packages libcurl4-openssl-dev libxml2-dev dpkg-dev binutils
	@for product in bowser bowser-simulate; do \
	  $(BUILD) -c release --product $$product --static-swift-stdlib --disable-local-rpath \
	    -Xlinker -z -Xlinker now --scratch-path .build/static || exit; \
	done

packages:
	@command -v swift >/dev/null || { printf '%s\n' \
	  'Swift is missing. Install Swift 6.2 or later, 3.3 GB, from https://www.swift.org/install/linux and come back.' \
	  'Or let a container have it; the site is then in .bowser/report/index.html here:' \
	  '  docker run --rm -v "$$PWD:/bowser" -w /bowser swift:6.3-bookworm sh -c "apt-get update -q && apt-get install -yq make && make demo"' \
	  >&2; exit 1; }
	@config/cluster packages
.PHONY: packages
