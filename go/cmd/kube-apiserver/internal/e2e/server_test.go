package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// effectTimeout is how long a new policy may take to be in force.
const effectTimeout = 30 * time.Second

func config(t *testing.T, kubeconfig, user string) *rest.Config {
	t.Helper()
	made, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: user},
	).ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	made.WarningHandler = rest.NoWarnings{}
	return made
}

func client(t *testing.T, kubeconfig, user string) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(config(t, kubeconfig, user))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// shortDir is a directory whose path leaves room for etcd's socket.
func shortDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "celgate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "data")
}

// TestServer runs the life of a server with each engine: start, users, policies and webhooks that deny,
// Ctrl-C, and a second start that finds everything again.
func TestServer(t *testing.T) {
	for _, engine := range []string{"celgate", "upstream"} {
		t.Run(engine, func(t *testing.T) {
			ctx := context.Background()
			dir := shortDir(t)
			flag := "--admission-engine=" + engine

			p := start(t, dir, flag)
			if !strings.Contains(p.stdout.String(), "is evaluated by: "+engine+"\n") {
				t.Errorf("announced: %s", p.stdout.String())
			}
			if children := p.children(t); children != "" {
				t.Errorf("the server has child processes: %s", children)
			}
			admin := client(t, p.kubeconfig, "admin")
			version, err := admin.Discovery().ServerVersion()
			if err != nil {
				t.Fatal(err)
			}
			if version.GitVersion != "v1.37.2+celgate" || version.Major != "1" || version.Minor != "37" {
				t.Errorf("/version is %+v", version)
			}
			checkUsers(ctx, t, p)
			makePolicy(ctx, t, admin)
			checkDenial(ctx, t, admin)
			checkTypes(ctx, t, admin)
			checkScenarios(ctx, t, p)
			t.Run("webhooks take effect", func(t *testing.T) { checkWebhooks(ctx, t, engine, admin) })
			p.stop(t, syscall.SIGINT)

			p = start(t, dir, flag)
			checkDenial(ctx, t, client(t, p.kubeconfig, "admin"))
			p.stop(t, syscall.SIGTERM)
		})
	}
}

func checkUsers(ctx context.Context, t *testing.T, p *process) {
	t.Helper()
	if _, err := client(t, p.kubeconfig, "admin").CoreV1().Pods("default").Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Errorf("the administrator cannot create a pod: %v", err)
	}
	for _, user := range []string{"alice", "bob"} {
		_, err := client(t, p.kubeconfig, user).CoreV1().Secrets("default").List(ctx, metav1.ListOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), user) {
			t.Errorf("%s lists secrets: %v", user, err)
		}
	}
}

func makePolicy(ctx context.Context, t *testing.T, admin kubernetes.Interface) {
	t.Helper()
	api := admin.AdmissionregistrationV1()
	fail := admissionregistrationv1.Fail
	_, err := api.ValidatingAdmissionPolicies().Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "no-secrets"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy:    &fail,
			MatchConstraints: created(corev1.SchemeGroupVersion.WithResource("configmaps")),
			Validations:      []admissionregistrationv1.Validation{{Expression: "!has(object.data) || !('password' in object.data)"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = api.ValidatingAdmissionPolicyBindings().Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "everywhere"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        "no-secrets",
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// checkDenial waits until makePolicy's policy is in force, and expects upstream's words.
func checkDenial(ctx context.Context, t *testing.T, admin kubernetes.Interface) {
	t.Helper()
	const words = "ValidatingAdmissionPolicy 'no-secrets' with binding 'everywhere' denied request: failed expression: !has(object.data) || !('password' in object.data)"
	bad := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "bad"}, Data: map[string]string{"password": "x"}}
	good := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "good"}, Data: map[string]string{"user": "x"}}
	dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}

	eventually(t, "the policy is in force", func() bool {
		_, err := admin.CoreV1().ConfigMaps("default").Create(ctx, bad, dryRun)
		if err != nil && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), words)) {
			t.Errorf("denied with: %v", err)
		}
		return err != nil
	})
	if _, err := admin.CoreV1().ConfigMaps("default").Create(ctx, good, dryRun); err != nil {
		t.Errorf("a good object is denied: %v", err)
	}
}
