# Included by the Makefile at the root.

# The evaluator alone beside other evaluators and in criterion, then both plugins in one binary, with upstream 1.36 in another beside them, then
# the whole server with each engine. About half an hour once built; BENCH_FLAGS, SERVER_FLAGS and EXPRESSIONS_FLAGS add flags (--help lists
# them). Go does not see that the core's library changed: what is linked with it is removed first.
.PHONY: bench
bench: server bench-expressions
	$(CARGO) bench --locked -p celgate-cel -p celgate-policy
	rm -f $(BIN)/bench
	cd benchmarks/go && $(GO) build $(server_build_flags) -o ../../$(BIN)/bench .
	cd benchmarks/upstream-1.36 && $(GO) build -trimpath -o ../../$(BIN)/bench-upstream-1.36 .
	$(BIN)/bench $(BENCH_FLAGS)
	$(MAKE) bench-server

# With EXPRESSIONS_FLAGS=-cpp also the C++ runtime, which comes as a Python package (pip install cel-expr-python).
.PHONY: bench-expressions
bench-expressions: prerequisites
	$(CARGO) build --release --locked -p celgate-k8s --example bench_expressions
	cd benchmarks/expressions && $(GO) build -o ../../$(BIN)/bench-expressions .
	$(BIN)/bench-expressions $(EXPRESSIONS_FLAGS)

.PHONY: bench-server
bench-server: server
	cd benchmarks/server && $(GO) build -o ../../$(BIN)/bench-server .
	$(BIN)/bench-server $(SERVER_FLAGS)

# How far the core is from the same checks written by hand, for ten policies of the corpus.
.PHONY: bench-by-hand
bench-by-hand: prerequisites
	$(CARGO) bench --locked -p celgate-policy --bench by_hand -- --out $(abspath benchmarks/results/by-hand.md)
