package main

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	celgate "github.com/celgate/celgate/go/admission/policy/validating"
	"github.com/celgate/celgate/go/admission/policy/verifying"
	"github.com/spf13/pflag"
	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"github.com/celgate/celgate/go/cmd/kube-apiserver/internal/bootstrap"
)

// policyPlugin is the type of the plugin that plugins makes for ValidatingAdmissionPolicy.
func policyPlugin(plugins *admission.Plugins) string {
	var made admission.Interface
	// Uninitialized, it does not validate: the type is known by then.
	look := initializerFunc(func(plugin admission.Interface) { made = plugin })
	_, _ = plugins.InitPlugin(upstream.PluginName, nil, look)
	return fmt.Sprintf("%T", made)
}

type initializerFunc func(admission.Interface)

func (f initializerFunc) Initialize(plugin admission.Interface) { f(plugin) }

func TestEngineChoosesThePlugin(t *testing.T) {
	e := engineCelgate
	ours := fmt.Sprintf("%T", (*celgate.Plugin)(nil))
	if got := policyPlugin(e.plugins()); got != ours {
		t.Errorf("celgate makes a %s", got)
	}
	// What the patch compiled in, and upstream's suite therefore tests.
	if got := policyPlugin(options.NewServerRunOptions().Admission.GenericAdmission.Plugins); got != ours {
		t.Errorf("the patched module makes a %s", got)
	}
	if err := e.Set("upstream"); err != nil {
		t.Fatal(err)
	}
	if got, want := policyPlugin(e.plugins()), fmt.Sprintf("%T", (*upstream.Plugin)(nil)); got != want {
		t.Errorf("upstream makes a %s", got)
	}
	if err := e.check(); err != nil {
		t.Error(err)
	}
	if err := e.Set("verify"); err != nil {
		t.Fatal(err)
	}
	if got, want := policyPlugin(e.plugins()), fmt.Sprintf("%T", (*verifying.Plugin)(nil)); got != want {
		t.Errorf("verify makes a %s", got)
	}
}

func TestEngineKeepsUpstreamsPlugins(t *testing.T) {
	want := options.NewServerRunOptions().Admission.GenericAdmission.Plugins.Registered()
	for _, e := range engines {
		if got := e.plugins().Registered(); !slices.Equal(got, want) {
			t.Errorf("%s registers %v, upstream %v", e, got, want)
		}
	}
}

func TestEngineRefusesOtherNames(t *testing.T) {
	e := engineCelgate
	for _, name := range []string{"", "Celgate", "none"} {
		if err := e.Set(name); err == nil {
			t.Errorf("%q is accepted", name)
		}
	}
	if e != engineCelgate {
		t.Errorf("a refused name changed the engine to %q", e)
	}
}

func TestHelpHasOurSectionFirst(t *testing.T) {
	var help strings.Builder
	cmd := newCommand()
	cmd.SetOut(&help)
	if err := cmd.Help(); err != nil {
		t.Fatal(err)
	}
	ours, theirs := strings.Index(help.String(), "--admission-engine"), strings.Index(help.String(), "--etcd-servers")
	if ours < 0 || theirs < ours {
		t.Errorf("--admission-engine at %d, --etcd-servers at %d", ours, theirs)
	}
}

// parsed are the flags of a command with args.
func parsed(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	fs := newCommand().Flags()
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return fs
}

var testFiles = &bootstrap.Files{
	CACert: "/d/ca.crt", ServingCert: "/d/serving.crt", ServingKey: "/d/serving.key",
	ServiceAccountKey: "/d/sa.key", Tokens: "/d/tokens.csv",
}

func TestDefaultsFillWhatIsNotSet(t *testing.T) {
	fs := parsed(t)
	defaults := fileDefaults(testFiles, "unix:///d/etcd.sock", true)
	if err := setDefaults(fs, defaults); err != nil {
		t.Fatal(err)
	}
	for _, d := range defaults {
		if got := strings.Trim(fs.Lookup(d.flag).Value.String(), "[]"); got != d.value {
			t.Errorf("--%s is %s, not %s", d.flag, got, d.value)
		}
	}
}

func TestDefaultsLeaveWhatIsSet(t *testing.T) {
	for _, c := range []struct {
		set   string
		alone []string // flags that must stay as they are
	}{
		{"--token-auth-file=/t", []string{"token-auth-file"}},
		{"--tls-cert-file=/c", []string{"tls-cert-file", "tls-private-key-file"}},
		{"--service-account-key-file=/k", []string{"service-account-signing-key-file", "service-account-key-file"}},
		{"--service-account-signing-endpoint=/s", []string{"service-account-signing-key-file", "service-account-key-file"}},
		{"--authorization-config=/a", []string{"authorization-mode"}},
		{"--authorization-mode=AlwaysAllow", []string{"authorization-mode"}},
		{"--admission-control=AlwaysDeny", []string{"disable-admission-plugins"}},
		{"--disable-admission-plugins=NamespaceLifecycle", []string{"disable-admission-plugins"}},
		{"--advertise-address=10.1.1.1", []string{"advertise-address", "endpoint-reconciler-type"}},
		{"--allow-privileged=false", []string{"allow-privileged"}},
		{"--service-cluster-ip-range=10.2.0.0/16", []string{"service-cluster-ip-range"}},
	} {
		fs := parsed(t, c.set)
		before := map[string]string{}
		for _, flag := range c.alone {
			before[flag] = fs.Lookup(flag).Value.String()
		}
		if err := setDefaults(fs, fileDefaults(testFiles, "unix:///d/etcd.sock", true)); err != nil {
			t.Fatal(err)
		}
		for _, flag := range c.alone {
			if got := fs.Lookup(flag).Value.String(); got != before[flag] {
				t.Errorf("with %s, --%s became %s", c.set, flag, got)
			}
		}
	}
}

func TestServerURL(t *testing.T) {
	for bind, want := range map[string]string{
		"127.0.0.1": "https://127.0.0.1:6443",
		"0.0.0.0":   "https://127.0.0.1:6443",
		"::":        "https://[::1]:6443",
		"10.0.0.7":  "https://10.0.0.7:6443",
	} {
		if got := serverURL(net.ParseIP(bind), 6443); got != want {
			t.Errorf("bound to %s: %s", bind, got)
		}
	}
	if !slices.Contains(servingHosts(net.ParseIP("10.0.0.7")), "10.0.0.7") {
		t.Error("the certificate does not cover the address")
	}
}
