# SPDX-License-Identifier: Apache-2.0
# `make help` lists what there is.
SCRATCH ?= .build
DIST ?= dist
# Colours are off because they are part of what the compiler is called with: with them, building in a terminal and in a pipe by
# turns would build everything anew each time.
PROOF = $(SCRATCH)/release/relay-proof
SWIFT_BUILD = swift build --scratch-path $(SCRATCH) --explicit-target-dependency-import-check error --no-color-diagnostics

.PHONY: build run demo-targets test bench sweep soak sanitize fuzz simulate simulate-broken check format help clean proof bootstrap bootstrap-test

help: ## Lists these commands.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1 \2/p' Makefile | while read -r name text; do printf '  make %-8s %s\n' "$$name" "$$text"; done

build: bootstrap ## Builds a release into dist/, which runs from any folder and without a toolchain.
	$(SWIFT_BUILD) --configuration release
	@scripts/package $(SCRATCH)/release $(SCRATCH)/package $(DIST)
	@echo "$(DIST)/ is ready. Next: make run for a demo, or $(DIST)/bin/relay-host --help; README.md has a first pipeline."

run: build ## Runs the demo: a daemon, a receiver, three pipelines and some files. Ctrl-C ends it.
	@python3 Examples/demo/run.py $(DIST)

demo-targets: bootstrap-test build ## One artifact to all six targets and the servers that people run, read back by other tools, compared by hash.
	@python3 Examples/demo-targets/run.py $(DIST)

test: bootstrap-test ## Builds and runs all tests.
	$(SWIFT_BUILD) --build-tests
	swift test --scratch-path $(SCRATCH) --skip-build --disable-xctest
	$(SCRATCH)/debug/relay-proof simulate --seeds 3000
	$(SCRATCH)/debug/relay-proof sweep --sample 3
	$(SCRATCH)/debug/relay-proof powercut --sample 4
	$(SCRATCH)/debug/relay-proof cuts --sample 4
	$(SCRATCH)/debug/relay-proof soak --seconds 45 --seed 6197

check: bootstrap-test build ## Checks form, module edges, links, binaries, and that dist/ runs where no toolchain is.
	@scripts/check $(DIST)

bench: bootstrap-test build ## Measures, beside peers and the disk's floor; BENCH="names" picks, BENCH_OPTIONS="--json f".
	@python3 Benchmarks/bench.py $(BENCH_OPTIONS) $(DIST) $(SCRATCH)/release $(BENCH)

sweep: bootstrap-test build proof ## Breaks the program at every durable, network and process call, and conversations at every byte (SAMPLE=n: only some).
	@$(PROOF) sweep --program $(DIST)/bin/relay-host $(if $(SAMPLE),--sample $(SAMPLE))
	@$(PROOF) powercut --program $(DIST)/bin/relay-host $(if $(SAMPLE),--sample $(SAMPLE))
	@$(PROOF) cuts --program $(DIST)/bin/relay-host $(if $(SAMPLE),--sample $(SAMPLE))

soak: bootstrap-test build proof ## Breaks everything at random for SECONDS=600, then judges; cuts the power at each call before (RECORD=docs/soak-log.md adds a line there).
	@$(PROOF) powercut --program $(DIST)/bin/relay-host $(if $(SAMPLE),--sample $(SAMPLE))
	@$(PROOF) soak --program $(DIST)/bin/relay-host --seconds $(or $(SECONDS),600) $(if $(SEED),--seed $(SEED)) $(if $(RECORD),--record $(RECORD))

sanitize: bootstrap-test ## Runs all tests with address, undefined-behaviour (C) and thread sanitizer; KIND=thread, FILTER=name for less.
	@scripts/sanitize $(SCRATCH)/sanitize $(KIND) $(FILTER)

fuzz: bootstrap-test ## Tries each reader with any bytes for SECONDS (60); TARGET=name for one of them.
	@scripts/fuzz $(SCRATCH)/fuzz $(or $(SECONDS),60) $(TARGET)

simulate: proof ## Tries the delivery logic in a simulated world, 10 000 seeds (SEEDS=n, FIRST=k) of it.
	@$(PROOF) simulate --seeds $(or $(SEEDS),10000) --first-seed $(or $(FIRST),1)

simulate-broken: ## Breaks each promise of the delivery logic on purpose and demands that the simulation notices.
	@scripts/prove-simulation

format: ## Formats all Swift sources.
	swift format --in-place --recursive --parallel Sources Plugins Tests Fuzz Benchmarks Package.swift

clean: ## Removes what was built.
	rm -rf $(SCRATCH) $(DIST)

proof:
	@$(SWIFT_BUILD) --configuration release --product relay-proof

bootstrap:
	@scripts/bootstrap build

bootstrap-test:
	@scripts/bootstrap test
