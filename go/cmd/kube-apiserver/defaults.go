package main

import (
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/celgate/celgate/go/cmd/kube-apiserver/internal/bootstrap"
)

// flagDefault is a value for a flag that the user did not set.
type flagDefault struct {
	flag, value string
	// unless are other flags that decide the same thing: if one is set, this default is not used.
	unless []string
}

// setDefaults sets flags of fs that are not set. It decides about all before it sets the first, so
// that one default does not count as the user's choice for the next.
func setDefaults(fs *pflag.FlagSet, defaults []flagDefault) error {
	var chosen []flagDefault
	for _, d := range defaults {
		if !anyChanged(fs, append([]string{d.flag}, d.unless...)) {
			chosen = append(chosen, d)
		}
	}
	for _, d := range chosen {
		if err := fs.Set(d.flag, d.value); err != nil {
			return fmt.Errorf("--%s=%s: %w", d.flag, d.value, err)
		}
	}
	return nil
}

func anyChanged(fs *pflag.FlagSet, flags []string) bool {
	for _, flag := range flags {
		if fs.Changed(flag) {
			return true
		}
	}
	return false
}

// addressDefaults come first: certificates and kubeconfig depend on them.
var addressDefaults = []flagDefault{{flag: "bind-address", value: "127.0.0.1"}}

// fileDefaults make upstream's server use files and etcdEndpoint. A local server is reached through
// this machine's own addresses only, so it publishes no endpoint for the service "kubernetes".
func fileDefaults(files *bootstrap.Files, etcdEndpoint string, local bool) []flagDefault {
	serving := []string{"tls-cert-file", "tls-private-key-file"}
	accounts := []string{"service-account-signing-key-file", "service-account-key-file", "service-account-signing-endpoint"}
	defaults := []flagDefault{
		{flag: "etcd-servers", value: etcdEndpoint},
		{flag: "tls-cert-file", value: files.ServingCert, unless: serving},
		{flag: "tls-private-key-file", value: files.ServingKey, unless: serving},
		{flag: "service-account-issuer", value: "https://kubernetes.default.svc"},
		{flag: "service-account-signing-key-file", value: files.ServiceAccountKey, unless: accounts},
		{flag: "service-account-key-file", value: files.ServiceAccountKey, unless: accounts},
		{flag: "authorization-mode", value: "RBAC", unless: []string{"authorization-config"}},
		{flag: "token-auth-file", value: files.Tokens},
		{flag: "service-cluster-ip-range", value: "10.96.0.0/16"},
		// Nothing here runs pods, so the default is no risk, and policies about them can be tried.
		{flag: "allow-privileged", value: "true"},
		// No controller makes the service accounts without which this plugin rejects every pod.
		{flag: "disable-admission-plugins", value: "ServiceAccount", unless: []string{"enable-admission-plugins", "admission-control"}},
	}
	if local {
		defaults = append(defaults,
			flagDefault{flag: "advertise-address", value: "127.0.0.1", unless: []string{"endpoint-reconciler-type"}},
			flagDefault{flag: "endpoint-reconciler-type", value: "none", unless: []string{"advertise-address"}},
		)
	}
	return defaults
}

// isLocal reports whether bind names no address by which other machines know this one.
func isLocal(bind net.IP) bool { return bind.IsLoopback() || bind.IsUnspecified() }

// servingHosts are the names and addresses that the serving certificate must cover.
func servingHosts(bind net.IP) []string {
	hosts := []string{
		"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
		"kubernetes.default.svc.cluster.local", "127.0.0.1", "::1",
	}
	if !isLocal(bind) {
		hosts = append(hosts, bind.String())
	}
	if name, err := os.Hostname(); err == nil && net.ParseIP(name) == nil {
		hosts = append(hosts, name)
	}
	return hosts
}

// serverURL is how a client on this machine reaches a server bound to bind and port.
func serverURL(bind net.IP, port int) string {
	host := bind.String()
	switch {
	case bind.Equal(net.IPv4zero):
		host = "127.0.0.1"
	case bind.Equal(net.IPv6unspecified):
		host = "::1"
	}
	return "https://" + net.JoinHostPort(host, strconv.Itoa(port))
}
