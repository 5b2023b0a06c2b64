# Bowser as a container that runs one command and ends:
#
#   docker build -t bowser .
#   docker run --rm --init -v bowser:/var/lib/bowser -e PGHOST=db -e PGUSER=... \
#     -v ./qld-fpd.token:/run/secrets/qld:ro -e BOWSER_QLD_FPD_TOKEN_FILE=/run/secrets/qld bowser ingest --all
#
# The clock is outside: a scheduler starts it every five minutes, and `bowser aggregate` after it.
# --init, because a first process without handlers is deaf to SIGTERM.

# Both stages are the same Debian, so that what is linked here is found there. A name can be given another image from
# one day to the next. To build from images that were looked at, name them by digest:
#
#   digest() { docker buildx imagetools inspect "$1" --format '{{.Manifest.Digest}}'; }
#   docker build -t bowser --build-arg SWIFT_IMAGE="swift@$(digest swift:6.3-bookworm)" \
#     --build-arg DEBIAN_IMAGE="debian@$(digest debian:bookworm-slim)" .
ARG SWIFT_IMAGE=swift:6.3-bookworm
ARG DEBIAN_IMAGE=debian:bookworm-slim
FROM ${SWIFT_IMAGE} AS builder
# libpq for PostgreSQL; libcurl and libxml2 are what Foundation links with.
RUN apt-get update -q \
 && apt-get install -y -q --no-install-recommends libpq-dev libcurl4-openssl-dev libxml2-dev pkg-config \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /source
# Tests are named in the package, so that their folders must be there; they are not built.
COPY Package.swift ./
COPY Migrations Migrations
COPY Sources Sources
COPY Tests Tests
# What `bowser --version` tells: docker build --build-arg BOWSER_COMMIT=$(git rev-parse --short HEAD)
ARG BOWSER_COMMIT=unknown
# The Swift runtime goes into the programs: the second stage has none. `bowser simulate` starts bowser-simulate.
RUN for product in bowser bowser-simulate; do \
      swift build -c release --product "$product" --static-swift-stdlib --disable-local-rpath \
        -Xlinker -z -Xlinker now --scratch-path .build/static \
      && install -D -s -m 755 ".build/static/release/$product" "/out/$product" || exit; \
    done

FROM ${DEBIAN_IMAGE}
# tzdata: price days are local days. ca-certificates: the providers' TLS. unzip: archives in backfill.
RUN apt-get update -q \
 && apt-get install -y -q --no-install-recommends \
      libpq5 libcurl4 libxml2 libstdc++6 tzdata ca-certificates unzip \
 && rm -rf /var/lib/apt/lists/* \
# A number that a host can give files to: a mounted key must be its own, mode 600.
 && useradd --system --uid 10001 --user-group --home-dir /var/lib/bowser --shell /usr/sbin/nologin bowser \
 && install -d -o bowser -g bowser -m 700 /var/lib/bowser
COPY --from=builder /out/ /usr/local/bin/
# The examples; mount a folder of your own over it. Not beside the program, where they would go before it.
COPY config/*.json5 /etc/bowser/
COPY config/feeds /etc/bowser/feeds
COPY config/archives /etc/bowser/archives
COPY LICENSE /usr/share/doc/bowser/LICENSE
# Tokens of the providers, kept between runs. Keys come at run time and are in no layer.
ENV STATE_DIRECTORY=/var/lib/bowser
VOLUME /var/lib/bowser
# Not a folder with a `config` in it, which the program would take.
WORKDIR /
USER 10001:10001
# Batch: there is nothing to ask between two runs. The exit code is the health; 75 means try again.
HEALTHCHECK NONE
ENTRYPOINT ["/usr/local/bin/bowser"]
CMD ["--help"]
