# Included by the Makefile at the root: the tests, cheapest first.

.PHONY: test
test: prerequisites lint test-rust test-fuzz test-c test-go conformance test-differential test-server test-restarts test-server-nocgo test-examples

.PHONY: lint
lint:
	$(CARGO) fmt --all --check
	$(CARGO) fmt --all --check --manifest-path tests/fuzz/Cargo.toml
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	@unformatted=$$(gofmt -l go tests benchmarks 2>/dev/null); if [ -n "$$unformatted" ]; then echo "gofmt: $$unformatted" >&2; exit 1; fi
	tests/house-rules
	cd go && $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 -tests=false ./...

.PHONY: test-rust
test-rust:
	$(CARGO) test --workspace --locked

# The bodies of the fuzz targets over their seeds, without a fuzzer.
.PHONY: test-fuzz
test-fuzz:
	CARGO_TARGET_DIR=target/fuzz $(CARGO) test --locked --manifest-path tests/fuzz/Cargo.toml --package celgate-fuzz-targets

# Every fuzz target for TIME (60s, 10m), one per core at a time; see tests/fuzz/README.md.
.PHONY: fuzz
fuzz: prerequisites
	TIME=$(TIME) tests/fuzz/run

# The C program is compiled as C11 and the header alone as C++17; with SANITIZE=1 under AddressSanitizer and UBSan.
.PHONY: test-c
test-c: lib
	tests/abi/symbols
	tests/c/run

.PHONY: test-go
test-go: lib lib-differential
	cd go && $(GO) vet ./... && $(GO) test -count=1 ./...

# The core with the calls for bare expressions, and with bugs to plant. Go does not see that a library changed: what is linked with it is
# removed first.
.PHONY: lib-differential
lib-differential: prerequisites
	$(CARGO) build --profile differential --features mutants --locked

CASES ?= 100000
SEED ?= 1

# Upstream takes time zones from the machine, whose database may be any version; in tests it takes Go's.
export ZONEINFO := $(shell $(GO) env GOROOT 2>/dev/null)/lib/time/zoneinfo.zip

# Generated expressions over generated values, in the core and in cel-go at the same time. What differs becomes a case.
.PHONY: differential
differential: lib-differential
	@mkdir -p $(BIN) && rm -f $(BIN)/differential && cd go && $(GO) build -o ../$(BIN)/differential ./cmd/differential
	$(BIN)/differential --cases=$(CASES) --seed=$(SEED) --found=tests/cases/expressions/found.txt $(DIFFERENTIAL_FLAGS)

# The expressions of tests/cases, and those of the policies in the corpus if it is there.
.PHONY: differential-cases
differential-cases: lib-differential
	@mkdir -p $(BIN) && rm -f $(BIN)/differential && cd go && $(GO) build -o ../$(BIN)/differential ./cmd/differential
	$(BIN)/differential --cases-from=tests/cases/expressions $(if $(wildcard $(CELGATE_CORPUS)),--policies-from=$(CELGATE_CORPUS))

# The core's planted bugs: each must be found within that many cases.
.PHONY: differential-mutants
differential-mutants: lib-differential
	@mkdir -p $(BIN) && rm -f $(BIN)/differential && cd go && $(GO) build -o ../$(BIN)/differential ./cmd/differential
	$(BIN)/differential --mutants --cases=$(CASES) --seed=$(SEED)

WORLDS ?= 20000
REQUESTS ?= 50

# Generated worlds of policies and requests with changes in between, in our plugin and in upstream's at the same time. The small case of a
# difference is saved where `make test` finds it. DIFFERENTIAL_FLAGS=--mode=order leaves upstream's source and order to it and asks that our
# outcomes are possible ones; --mode=real runs both plugins with their own informers and timers.
.PHONY: differential-admission
differential-admission: lib
	@mkdir -p $(BIN) && rm -f $(BIN)/differential-admission && cd go && $(GO) build -o ../$(BIN)/differential-admission ./cmd/differential-admission
	$(BIN)/differential-admission --worlds=$(WORLDS) --requests=$(REQUESTS) --seed=$(SEED) --save=go/internal/harness/testdata $(DIFFERENTIAL_FLAGS)

# The same for webhooks, with a server that both plugins call: what it is sent is compared, too.
.PHONY: differential-webhooks
differential-webhooks: WORLDS = 4000
differential-webhooks: lib
	@mkdir -p $(BIN) && rm -f $(BIN)/differential-admission && cd go && $(GO) build -o ../$(BIN)/differential-admission ./cmd/differential-admission
	$(BIN)/differential-admission --mode=webhooks --worlds=$(WORLDS) --requests=$(REQUESTS) --seed=$(SEED)

# Bugs of policies and webhooks planted in the core: each must be found within MUTANT_WORLDS worlds.
MUTANT_WORLDS ?= 1000
.PHONY: differential-admission-mutants
differential-admission-mutants: lib-differential
	@mkdir -p $(BIN) && rm -f $(BIN)/differential-admission-mutants && cd go && $(GO) build -tags mutants -o ../$(BIN)/differential-admission-mutants ./cmd/differential-admission
	$(BIN)/differential-admission-mutants --mutants --worlds=$(MUTANT_WORLDS) --requests=$(REQUESTS) --seed=$(SEED)
	$(BIN)/differential-admission-mutants --mutants --mode=webhooks --worlds=$(MUTANT_WORLDS) --requests=$(REQUESTS) --seed=$(SEED)

# Both plugins under load for TIME (1m, 30m) while everything changes: decisions, memory, handles, latency; see go/internal/soak/doc.go. The other
# two have the instruments: the race detector, and AddressSanitizer with a collection before every use of a handle, which makes each request slow.
soak_build = rm -f $(BIN)/$@ && mkdir -p $(BIN) && cd go && $(GO) build $(1) -o ../$(BIN)/$@ ./cmd/soak
soak_time = --duration=$(or $(TIME),1m) --seed=$(SEED)

.PHONY: soak soak-race soak-asan
soak: lib
	$(call soak_build)
	$(BIN)/$@ $(soak_time) $(SOAK_FLAGS)

soak-race: lib
	$(call soak_build,-race)
	$(BIN)/$@ $(soak_time) --pace=10 $(SOAK_FLAGS)

soak-asan: lib
	$(call soak_build,-asan -tags gcstress)
	$(BIN)/$@ $(soak_time) --pace=2 --requests=16 --changes=20 $(SOAK_FLAGS)

# Bugs of policies planted in the core, by their places in rust/policy/src/mutants.rs, of which the run must find each; it ends when it has. All but
# ConditionErrorsUncounted, which shows in metrics alone, can be found, most of them in seconds.
SOAK_MUTANTS ?= 1 10 20 30 40 50
soak_mutant_flags = --pace=5 --requests=16 --interval=2s --rounds=1
.PHONY: soak-mutants
soak-mutants: lib-differential
	$(call soak_build,-tags mutants)
	@mkdir -p build; for mutant in $(SOAK_MUTANTS); do ! $(BIN)/$@ $(soak_time) --mutant=$$mutant $(soak_mutant_flags) $(SOAK_FLAGS) >build/soak-mutant.log 2>&1 || { echo "bug $$mutant is not found"; exit 1; }; \
	grep '^soak: .* wrong answers' build/soak-mutant.log | sed "s/^soak/bug $$mutant/" | grep . || { cat build/soak-mutant.log; exit 1; }; done

# cel-spec's own tests, in the core and in cel-go; CONFORMANCE_FLAGS=--propose prints the exclusions that cel-go's results ask for.
.PHONY: conformance
conformance: lib-differential
	@mkdir -p $(BIN) && rm -f $(BIN)/conformance && cd go && $(GO) build -o ../$(BIN)/conformance ./cmd/conformance
	cd go && ../$(BIN)/conformance $(CONFORMANCE_FLAGS)

.PHONY: test-differential
test-differential: lib differential differential-cases
	tests/differential/run

.PHONY: test-examples
test-examples: server
	@mkdir -p $(BIN) && cd go && $(GO) build -o ../$(BIN)/demo ./cmd/demo
	$(BIN)/demo
	$(BIN)/demo --admission-engine=upstream
	$(BIN)/demo --admission-engine=verify
	@! $(BIN)/demo --without-policies >build/demo-without-policies.log || { echo "the demo noticed nothing when the policies were left out"; exit 1; }
	@grep -q surprises build/demo-without-policies.log

# Comparing expressions shares nothing between threads, and takes long under the race detector.
.PHONY: check-memory
check-memory: lib
	cd go && $(GO) test -count=1 -race $$($(GO) list ./internal/... ./admission/... | grep -v internal/differential)
	cd go && GOEXPERIMENT=cgocheck2 $(GO) test ./internal/cabi
	cd go && $(GO) test -count=1 -asan ./internal/cabi ./admission/...
	cd go && $(GO) test -asan -tags gcstress ./internal/cabi/...
	cd go && $(GO) test -count=1 -asan -tags gcstress -run='^TestSoak$$' ./internal/soak
	SANITIZE=1 tests/c/run
