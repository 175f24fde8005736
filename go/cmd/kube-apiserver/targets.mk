# Included by the Makefile at the root, which has the target `lib` (target/release/libcelgate.a).
#
#   make server          bin/kube-apiserver: upstream's server with celgate's plugin, static
#   make kubectl etcd    bin/kubectl and bin/etcd, of the versions the server is made from
#   make run             a server with an etcd inside on build/run; RUN_FLAGS adds flags
#   make test-server     tests of the server's own parts, and of the built binary
#   make test-restarts   etcd and the server are killed under load; both engines answer as before
#   make test-server-nocgo   a build without cgo compiles, and refuses to start without an engine
#   make test-upstream   upstream's integration suite against celgate's plugin; SUITE_FLAGS adds flags
#   make test-upstream-sabotage   the same with an engine that admits everything: tests must fail

GO ?= go

server_dir := go/cmd/kube-apiserver
server_k8s_version := v1.37.2
server_library := target/release/libcelgate.a

# Everything over the patched module is built with the same flags, so that the server, its tests
# and upstream's suite share Go's build cache. netgo and osusergo leave no use for glibc's
# resolver and user database, which do not work in a static binary.
server_build_flags := -trimpath -tags netgo,osusergo

# Fixed values, so that the same source gives the same binary.
server_version_flags := $(foreach package,k8s.io/component-base/version k8s.io/client-go/pkg/version, \
	-X $(package).gitMajor=1 -X $(package).gitMinor=37 \
	-X $(package).gitVersion=$(server_k8s_version)+celgate -X $(package).gitCommit=)

# The released kube-apiserver is static, so ours is. cgo makes an external linker necessary. Go does
# not see that a C library changed: a flag with its sum, which nothing reads, makes it link again.
server_link_flags = -linkmode external -extldflags -static \
	-X main.celgateLibrary=$(shell cksum <$(server_library) | tr -d ' ')

server_build = mkdir -p bin && cd $(server_dir) && $(GO) build $(server_build_flags)

.PHONY: server kubectl etcd run patched-apiserver \
	test-server test-restarts test-server-nocgo test-upstream test-upstream-sabotage

patched-apiserver:
	@cd go && $(GO) run ./cmd/patched-apiserver --patch=../patches/kubernetes-1.37.patch ../build/apiserver

server: lib patched-apiserver
	$(server_build) -o $(CURDIR)/bin/kube-apiserver -ldflags "$(server_link_flags) $(server_version_flags)" .

kubectl: patched-apiserver
	export CGO_ENABLED=0 && $(server_build) -o $(CURDIR)/bin/kubectl -ldflags "$(strip $(server_version_flags))" k8s.io/kubernetes/cmd/kubectl

etcd: patched-apiserver
	export CGO_ENABLED=0 && $(server_build) -o $(CURDIR)/bin/etcd go.etcd.io/etcd/server/v3

run: server kubectl
	bin/kube-apiserver --embedded-etcd --data-dir=build/run $(RUN_FLAGS)

# Without -vet=off, vet would first analyse all of Kubernetes.
test-server: server lib-differential
	cd $(server_dir) && CELGATE_KUBE_APISERVER=$(CURDIR)/bin/kube-apiserver \
		$(GO) test -vet=off -count=1 $(server_build_flags) ./...

test-restarts: server etcd
	cd $(server_dir) && CELGATE_KUBE_APISERVER=$(CURDIR)/bin/kube-apiserver CELGATE_ETCD=$(CURDIR)/bin/etcd \
		$(GO) test -vet=off -count=1 -v -timeout=20m $(server_build_flags) -run='^TestRestarts$$' ./internal/e2e

test-server-nocgo: patched-apiserver
	export CGO_ENABLED=0 && $(server_build) -o $(CURDIR)/build/kube-apiserver-nocgo .
	@! build/kube-apiserver-nocgo >build/kube-apiserver-nocgo.log 2>&1 || { echo "it started without an engine"; exit 1; }
	@grep -- '--admission-engine=celgate' build/kube-apiserver-nocgo.log

# Enough to see failures noticed. All of the suite takes long, as each test waits for a denial.
SABOTAGE_FLAGS ?= '-test.run=^(TestPolicyAdmission|Test_ValidateNamespace_.*)$$'

suite = GO="$(GO)" BUILD_FLAGS="$(server_build_flags)" MODULE=$(CURDIR)/$(server_dir) tests/upstream/run

test-upstream: lib patched-apiserver etcd
	$(suite) $(SUITE_FLAGS)

test-upstream-sabotage: lib patched-apiserver etcd
	$(suite) --sabotage $(SABOTAGE_FLAGS)
