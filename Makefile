# The two commands of a newcomer: `make run` and `make test`. Everything else is for those who work on it.

SOURCES := $(shell find packages projections infra services test bench -name '*.ts' -not -path '*/node_modules/*' 2>/dev/null)

# Those that carry packages of their own.
PEERS := $(addsuffix /node_modules/.installed,bench/peers/emmett bench/peers/graphile-worker)

TOOLS := $(CURDIR)/.data/tools

.PHONY: run run-distributed kafka kafka-stop test test-distributed promtool simulate bench flame soak demo contract build check clean

# With its default of 16 MB for young objects, a fifth of the processor's time goes into moving them.
SERVICE := node --enable-source-maps --max-semi-space-size=64

run: dist/.built
	@$(SERVICE) dist/services/all-in-one/main.js

# Each service apart, on the engines that EVENTSTORE_URL, POSTGRES_URL and KAFKA_BROKERS name, or on what is here.
run-distributed: dist/.built
	@$(SERVICE) dist/services/distributed/main.js

# A real broker for this machine; it needs Java 17 and Maven.
kafka: dist/.built
	@node dist/infra/kafka/main.js start

kafka-stop: dist/.built
	@node dist/infra/kafka/main.js stop

test: dist/.built
	@node --enable-source-maps dist/test/run.js

# With it the suite also tries the rules of alerts; it needs Go, and ten minutes once.
promtool: $(TOOLS)/bin/promtool

# A module of its own, because `go install` refuses what names replacements.
$(TOOLS)/bin/promtool:
	@there=$$(mktemp -d) && cd $$there && mkdir -p $(TOOLS)/bin && go mod init promtool && \
		go get github.com/prometheus/prometheus/cmd/promtool@v0.55.1 && \
		go build -o $@ github.com/prometheus/prometheus/cmd/promtool; \
		ended=$$?; rm -rf $$there; exit $$ended

# Every fault, alone and together, on real processes and engines: SEED repeats a run, ONLY=killed chooses faults.
test-distributed: dist/.built
	@node --enable-source-maps dist/test/faults/main.js

# Random histories against the laws: SEED=7 STEPS=300 for one, SEEDS=1000 for many (test/simulator/main.ts).
simulate: dist/.built
	@node --enable-source-maps dist/test/simulator/main.js SEED=$(SEED) STEPS=$(STEPS) SEEDS=$(SEEDS) ONLY=$(ONLY) SHRINK=$(SHRINK)

# Steady load while memory, lag and queues are watched; fails on growth: MODE=all-in-one, RATE, FILL, DIR (test/soak/main.ts).
soak: dist/.built
	@node --enable-source-maps dist/test/soak/main.js MINUTES=$(MINUTES) MODE=$(MODE) RATE=$(RATE) FILL=$(FILL) DIR=$(DIR)

# Against peers, in turns: QUICK=1 for some minutes, ROWS="append read" for some rows, LONG=1 (bench/README.md).
bench: dist/.built $(PEERS)
	@QUICK=$(QUICK) LONG=$(LONG) KEEP=$(KEEP) node --enable-source-maps dist/bench/main.js $(ROWS)

# Where a row's time goes, as bench/flames/ROW.svg: needs Linux's perf and Rust's cargo (bench/README.md).
flame: dist/.built $(PEERS) $(TOOLS)/bin/inferno-flamegraph
	@there=$$(mktemp -d) && cd $$there && PATH=$(TOOLS)/bin:$$PATH NODE_OPTIONS=--perf-prof node $(CURDIR)/dist/bench/flame.js $(ROW); \
		ended=$$?; rm -rf $$there; exit $$ended

$(TOOLS)/bin/inferno-flamegraph:
	@cargo install inferno --locked --quiet --root $(TOOLS)

bench/peers/%/node_modules/.installed: bench/peers/%/package.json bench/peers/%/package-lock.json
	@npm ci --prefix bench/peers/$* --no-audit --no-fund --loglevel=error
	@touch $@

demo: dist/.built
	@node --enable-source-maps dist/services/cli/main.js demo

# Rewrites docs/contract: the description of the API and the tables, whose difference a review sees.
contract: dist/.built
	@REWRITE=1 node --enable-source-maps dist/test/run.js dist/test/laws/snapshots.test.js

build: dist/.built

dist/.built: node_modules/.installed tsconfig.json $(SOURCES)
	@npx --no-install tsc -p .
	@touch $@

node_modules/.installed: package.json package-lock.json
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@

clean:
	rm -rf dist
