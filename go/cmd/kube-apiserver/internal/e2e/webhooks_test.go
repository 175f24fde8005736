package e2e

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// refuser is a server of webhooks that all deny, each in the name of its path.
type refuser struct {
	*httptest.Server
	calls atomic.Int64
}

func startRefuser(t *testing.T) *refuser {
	t.Helper()
	r := &refuser{}
	r.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.calls.Add(1)
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(request.Body).Decode(&review); err != nil || review.Request == nil {
			http.Error(w, "no review", http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{
			UID:    review.Request.UID,
			Result: &metav1.Status{Message: request.URL.Path + " denies " + review.Request.Name, Code: http.StatusForbidden},
		}
		review.Request = nil
		_ = json.NewEncoder(w).Encode(&review) // a client that has gone gets no answer
	}))
	t.Cleanup(r.Close)
	return r
}

// webhook denies ConfigMaps of a namespace, if a condition is true.
func (r *refuser) webhook(path, namespace, condition string) admissionregistrationv1.ValidatingWebhook {
	address, none := r.URL+path, admissionregistrationv1.SideEffectClassNone
	return admissionregistrationv1.ValidatingWebhook{
		Name: "scenario.webhooks.example.com",
		ClientConfig: admissionregistrationv1.WebhookClientConfig{
			URL: &address, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw}),
		},
		NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{"scenario": namespace}},
		Rules:                   []admissionregistrationv1.RuleWithOperations{created(corev1.SchemeGroupVersion.WithResource("configmaps")).ResourceRules[0].RuleWithOperations},
		MatchConditions:         []admissionregistrationv1.MatchCondition{{Name: "condition", Expression: condition}},
		SideEffects:             &none,
		AdmissionReviewVersions: []string{"v1"},
	}
}

// checkWebhooks expects a webhook to be called as long as there is one, and as its configuration says now.
func checkWebhooks(ctx context.Context, t *testing.T, engine string, admin kubernetes.Interface) {
	const namespace = "scenario-webhooks"
	_, err := admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{"scenario": namespace}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	create := func(namespace, name string) string {
		t.Helper()
		_, err := admin.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}},
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err.Error()
		}
		return ""
	}
	server := startRefuser(t)
	// expect waits until one name is denied, and expects the other to be allowed without a call.
	expect := func(denied, path, allowed string) {
		t.Helper()
		want := `admission webhook "scenario.webhooks.example.com" denied the request: ` + path + " denies " + denied
		eventually(t, want, func() bool { return create(namespace, denied) == want })
		calls := server.calls.Load()
		for namespace, name := range map[string]string{namespace: allowed, "default": denied} {
			if refused := create(namespace, name); refused != "" {
				t.Errorf("%s in %s: %s", name, namespace, refused)
			}
		}
		if more := server.calls.Load() - calls; more != 0 {
			t.Errorf("a webhook was called %d times that should not have been", more)
		}
	}

	api := admin.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	made, err := api.Create(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "scenario-webhooks"},
		Webhooks:   []admissionregistrationv1.ValidatingWebhook{server.webhook("/first", namespace, "object.metadata.name == 'a'")},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	expect("a", "/first", "b")
	made.Webhooks[0] = server.webhook("/second", namespace, "object.metadata.name == 'b'")
	if _, err := api.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("b", "/second", "a")
	if err := api.Delete(ctx, made.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a deleted webhook is called no more", func() bool { return create(namespace, "b") == "" })

	metrics, err := admin.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		t.Fatal(err)
	}
	matched := regexp.MustCompile(`(?m)^celgate_webhook_matching_seconds_count [1-9]`).Match(metrics)
	faultless := strings.Contains(string(metrics), "celgate_webhook_core_failures_total 0\n")
	if ours := engine == "celgate"; matched != ours || faultless != ours {
		t.Errorf("celgate matched webhooks: %t, without failures: %t", matched, faultless)
	}
}
