# The two commands of a newcomer: `make run` and `make test`. Everything else is for those who work on it.

SOURCES := $(shell find packages projections infra services test bench -name '*.ts' 2>/dev/null)

.PHONY: run test demo build check clean

run: dist/.built
	@node --enable-source-maps dist/services/all-in-one/main.js

test: dist/.built
	@node --enable-source-maps dist/test/run.js

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
