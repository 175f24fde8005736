package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	utilversion "k8s.io/component-base/version"
	"k8s.io/klog/v2"
)

const (
	readyInterval = 200 * time.Millisecond
	readyTimeout  = 5 * time.Second
)

// announce waits until the server is ready, prints how to talk to it, and does what controllers of a
// cluster do for policies. It asks with the kubeconfig it is about to recommend, so what it prints works.
func (in *instance) announce(ctx context.Context) {
	config, err := clientcmd.BuildConfigFromFlags("", in.kubeconfig)
	if err != nil {
		klog.ErrorS(err, "The kubeconfig cannot be used", "path", in.kubeconfig)
		return
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		klog.ErrorS(err, "The kubeconfig cannot be used", "path", in.kubeconfig)
		return
	}
	defer client.CloseIdleConnections()
	if !waitReady(ctx, client, config.Host+"/readyz") {
		return
	}
	fmt.Print(in.text(kubectlCommand()))
	if err := in.engine.checkTypes(ctx, config); err != nil {
		klog.ErrorS(err, "Policies are not type checked")
	}
}

// waitReady asks url until the answer is 200, which it reports, or ctx ends.
func waitReady(ctx context.Context, client *http.Client, url string) bool {
	ticker := time.NewTicker(readyInterval)
	defer ticker.Stop()
	for {
		if isReady(ctx, client, url) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
}

func isReady(ctx context.Context, client *http.Client, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// kubectlCommand is the kubectl beside this program, or the one on PATH.
func kubectlCommand() string {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "kubectl")
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return beside
		}
	}
	return "kubectl"
}

// text is the block that tells how to use the running server.
func (in *instance) text(kubectl string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nkube-apiserver %s is ready. ValidatingAdmissionPolicy is evaluated by: %s\n\n", utilversion.Get().GitVersion, in.engine)
	fmt.Fprintf(&b, "  export KUBECONFIG=%s\n", in.kubeconfig)
	fmt.Fprintf(&b, "  %s get validatingadmissionpolicies\n\n", kubectl)
	for i, user := range in.users {
		switch groups := strings.Join(user.Groups, ", "); {
		case i == 0:
			fmt.Fprintf(&b, "  You are %s (%s).", user.Name, groups)
		case i == 1:
			fmt.Fprintf(&b, " Others, by --context: %s (%s)", user.Name, groups)
		default:
			fmt.Fprintf(&b, ", %s (%s)", user.Name, groups)
		}
	}
	fmt.Fprintf(&b, "\n  Data: %s (remove it to start afresh). Ctrl-C stops the server.\n\n", in.dataDir)
	return b.String()
}
