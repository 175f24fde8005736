package workloads

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// webhooks is a world of n webhooks for a resource, each with match conditions of its own if it has any; none is to be called.
func webhooks(n int, resource schema.GroupVersionResource, conditions func(i int) []string) func() (*World, error) {
	return worldOf(func() *World {
		made := &v1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "webhooks"}}
		for i := range n {
			made.Webhooks = append(made.Webhooks, webhook(i, resource, "https://192.0.2.1/never", nil, conditions(i)))
		}
		return &World{Webhooks: made}
	})
}

// called is a world of one webhook that is called and allows.
func called() (*World, error) {
	server := answering()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	made := webhook(0, PodResource, server.URL+"/allow", authority, nil)
	return &World{Webhooks: &v1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "webhooks"}, Webhooks: []v1.ValidatingWebhook{made}}}, nil
}

func webhook(i int, resource schema.GroupVersionResource, url string, authority []byte, conditions []string) v1.ValidatingWebhook {
	fail, equivalent, none, all, seconds := v1.Fail, v1.Equivalent, v1.SideEffectClassNone, v1.AllScopes, int32(10)
	made := v1.ValidatingWebhook{
		Name: fmt.Sprintf("webhook-%03d.example.com", i), ClientConfig: v1.WebhookClientConfig{URL: &url, CABundle: authority},
		FailurePolicy: &fail, MatchPolicy: &equivalent, SideEffects: &none, TimeoutSeconds: &seconds, AdmissionReviewVersions: []string{"v1"},
		ObjectSelector: &metav1.LabelSelector{},
		// As installed ones have it: not in the system's own namespaces.
		NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"kube-system", fmt.Sprintf("system-%d", i)}},
		}},
		Rules: []v1.RuleWithOperations{{Operations: []v1.OperationType{v1.Create, v1.Update},
			Rule: v1.Rule{APIGroups: []string{resource.Group}, APIVersions: []string{"*"}, Resources: []string{resource.Resource}, Scope: &all}}},
	}
	for k, expression := range conditions {
		made.MatchConditions = append(made.MatchConditions, v1.MatchCondition{Name: fmt.Sprintf("condition-%d", k), Expression: expression})
	}
	return made
}

func noConditions(int) []string { return nil }

// excluding are conditions as Kubernetes' documentation has them, with constants of their own, and one about the object that is false for
// all requests.
func excluding(i int) []string {
	return []string{
		fmt.Sprintf(`!(request.resource.group == "coordination-%d.k8s.io" && request.resource.resource == "leases")`, i),
		fmt.Sprintf(`!("system:nodes-%d" in request.userInfo.groups)`, i),
		fmt.Sprintf(`request.resource.group != "rbac-%d.authorization.k8s.io"`, i),
		fmt.Sprintf(`has(object.metadata.labels) && "guarded-by-%d" in object.metadata.labels`, i),
	}
}

// answering is a webhook server that allows everything; it ends with the process.
var answering = sync.OnceValue(func() *httptest.Server {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		review := &admissionv1.AdmissionReview{}
		if err == nil {
			err = json.Unmarshal(body, review)
		}
		if err != nil || review.Request == nil {
			http.Error(w, "no review", http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		review.Request = nil
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	return server
})
