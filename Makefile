# The two commands of a newcomer: `make run` and `make test`. Everything else is for those who work on it.

SOURCES := $(shell find packages projections infra services test bench -name '*.ts' 2>/dev/null)

.PHONY: run run-distributed kafka kafka-stop test simulate demo build check clean

run: dist/.built
	@node --enable-source-maps dist/services/all-in-one/main.js

# Each service apart, on the engines that EVENTSTORE_URL, POSTGRES_URL and KAFKA_BROKERS name, or on what is here.
run-distributed: dist/.built
	@node --enable-source-maps dist/services/distributed/main.js

# A real broker for this machine; it needs Java 17 and Maven.
kafka: dist/.built
	@node dist/infra/kafka/main.js start

kafka-stop: dist/.built
	@node dist/infra/kafka/main.js stop

test: dist/.built
	@node --enable-source-maps dist/test/run.js

# Random histories against the laws: SEED=7 STEPS=300 for one, SEEDS=1000 for many (test/simulator/main.ts).
simulate: dist/.built
	@node --enable-source-maps dist/test/simulator/main.js SEED=$(SEED) STEPS=$(STEPS) SEEDS=$(SEEDS) ONLY=$(ONLY) SHRINK=$(SHRINK)

demo: dist/.built
	@node --enable-source-maps dist/services/cli/main.js demo

build: dist/.built

dist/.built: node_modules/.installed tsconfig.json $(SOURCES)
	@npx --no-install tsc -p .
	@touch $@

node_modules/.installed: package.json package-lock.json
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@

clean:
	rm -rf dist
