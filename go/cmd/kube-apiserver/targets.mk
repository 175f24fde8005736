# Included by the Makefile at the root, which has the target `lib` (target/release/libcelgate.a).
#
#   make server          bin/kube-apiserver: upstream's server with celgate's plugin, static
#   make kubectl etcd    bin/kubectl and bin/etcd, of the versions the server is made from
#   make run             a server with an etcd inside on build/run; RUN_FLAGS adds flags
#   make test-server     tests of the server's own parts, and of the built binary
#   make test-upstream   upstream's integration suite against celgate's plugin
#   make test-upstream-sabotage   the same with an engine that admits everything: it must fail

GO ?= go

server_dir := go/cmd/kube-apiserver
server_k8s_version := v1.37.2
# Everything over the patched module is built with the same flags, so that the server, its tests
# and upstream's suite share Go's build cache. netgo and osusergo leave no use for glibc's
# resolver and user database, which do not work in a static binary.
server_build_flags := -trimpath -tags netgo,osusergo

# Fixed values, so that the same source gives the same binary.
server_version_flags = $(foreach package,k8s.io/component-base/version k8s.io/client-go/pkg/version,\
	-X $(package).gitMajor=1 -X $(package).gitMinor=37 \
	-X $(package).gitVersion=$(server_k8s_version)+celgate -X $(package).gitCommit= )

# Go does not know that a C library changed. A linker flag that nobody reads makes it link again.
server_library_flag = -X main.celgateLibrary=$$(cksum < target/release/libcelgate.a | tr -d ' ')

# The released kube-apiserver is static, so ours is. The Rust library makes cgo, and so an external
# linker, necessary.
server_static_flags := -linkmode external -extldflags -static

.PHONY: server kubectl etcd run patched-apiserver test-server test-upstream test-upstream-sabotage

patched-apiserver:
	patches/patched-apiserver build/apiserver

server: lib patched-apiserver
	@mkdir -p bin
	cd $(server_dir) && root=$(CURDIR) && library=$(CURDIR)/target/release/libcelgate.a && \
	$(GO) build $(server_build_flags) -o $(CURDIR)/bin/kube-apiserver \
		-ldflags "$(server_static_flags) $(server_version_flags) -X main.celgateLibrary=$$(cksum <$$library | tr -d ' ')" .

kubectl etcd: export CGO_ENABLED := 0
kubectl: patched-apiserver
	@mkdir -p bin
	cd $(server_dir) && $(GO) build $(server_build_flags) -o $(CURDIR)/bin/kubectl \
		-ldflags "$(server_version_flags)" k8s.io/kubernetes/cmd/kubectl

etcd: patched-apiserver
	@mkdir -p bin
	cd $(server_dir) && $(GO) build $(server_build_flags) -o $(CURDIR)/bin/etcd go.etcd.io/etcd/server/v3

run: server kubectl
	bin/kube-apiserver --embedded-etcd --data-dir=build/run $(RUN_FLAGS)
