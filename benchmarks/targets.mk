# Included by the Makefile at the root.

# Both plugins in one binary, then the whole server with each engine, then the Rust core alone. About five minutes once built;
# BENCH_FLAGS and LOAD_FLAGS add flags (--help lists them).
.PHONY: bench
bench: server
	cd benchmarks/go && $(GO) build $(server_build_flags) -o ../../$(BIN)/bench .
	$(BIN)/bench $(BENCH_FLAGS)
	cd go && $(GO) build -o ../$(BIN)/load ./cmd/load
	$(BIN)/load $(LOAD_FLAGS)
	$(CARGO) bench --locked -p celgate-cel
