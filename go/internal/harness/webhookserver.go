package harness

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/testcerts"
)

// WebhookServer is a TLS server whose webhooks behave as their paths say, and which remembers what it was sent.
type WebhookServer struct {
	server *httptest.Server
	// refused is the address of a server that has gone.
	refused string

	lock  sync.Mutex
	calls []string
}

// Behaviours are the paths of webhooks. There is also "slow", which takes longer than a second.
var (
	// Agreeable webhooks admit.
	Agreeable = []string{"allow", "warn", "annotate", "beta"}
	// Refusing webhooks refuse.
	Refusing = []string{"deny", "deny-status", "deny-nothing"}
	// Broken webhooks give no answer that could be used.
	Broken = []string{"garbage", "empty", "other-uid", "other-kind", "patch", "error-500", "error-404", "redirect", "hang-up", "nothing"}
)

// StartWebhookServer starts a server, which Close ends.
func StartWebhookServer() (*WebhookServer, error) {
	certificate, err := tls.X509KeyPair(testcerts.ServerCert, testcerts.ServerKey)
	if err != nil {
		return nil, err
	}
	s := &WebhookServer{}
	gone := httptest.NewServer(nil)
	s.refused = strings.TrimPrefix(gone.URL, "http://")
	gone.Close()
	s.server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	s.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.server.StartTLS()
	return s, nil
}

// Close ends the server.
func (s *WebhookServer) Close() { s.server.Close() }

// URL is the address of a webhook.
func (s *WebhookServer) URL(behaviour string) string { return s.server.URL + "/" + behaviour }

// Config is how a webhook is reached. Besides behaviours there are "refused" (no server), "untrusted" (a certificate of another authority),
// "unresolved" (no such service) and "no-config".
func (s *WebhookServer) Config(behaviour string, service bool) admissionregistrationv1.WebhookClientConfig {
	config := admissionregistrationv1.WebhookClientConfig{CABundle: testcerts.CACert}
	path := "/" + behaviour
	switch {
	case behaviour == "no-config":
	case behaviour == "refused":
		config.URL = pointer("https://" + s.refused)
	case behaviour == "untrusted":
		config.CABundle = testcerts.BadCACert
		config.URL = pointer(s.URL("allow"))
	case behaviour == "unresolved":
		config.Service = &admissionregistrationv1.ServiceReference{Namespace: "failResolve", Name: "webhook-test", Path: &path}
	case service:
		config.Service = &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "webhook-test", Path: &path, Port: pointer(int32(443))}
	default:
		config.URL = pointer(s.URL(behaviour))
	}
	return config
}

// Calls gives what was sent since the last time, in order of the texts.
func (s *WebhookServer) Calls() []string {
	s.lock.Lock()
	defer s.lock.Unlock()
	calls := s.calls
	s.calls = nil
	slices.Sort(calls)
	return calls
}

// review is what matters of an AdmissionReview of either version.
type review struct {
	metav1.TypeMeta
	Request *struct {
		UID types.UID `json:"uid"`
	} `json:"request"`
}

func (s *WebhookServer) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var asked review
	if err == nil {
		err = json.Unmarshal(body, &asked)
	}
	if err != nil || asked.Request == nil {
		http.Error(w, "no review", http.StatusBadRequest)
		return
	}
	uid := asked.Request.UID
	text := fmt.Sprintf("%s %s %s\n%s", r.Method, r.URL, r.Header.Get("Content-Type"), strings.ReplaceAll(string(body), string(uid), "UID"))
	s.lock.Lock()
	s.calls = append(s.calls, text)
	s.lock.Unlock()
	// Of webhooks that are called at once, any may be first.
	time.Sleep(rand.N(200 * time.Microsecond))
	s.answer(w, strings.TrimPrefix(r.URL.Path, "/"), asked, uid)
}

func (s *WebhookServer) answer(w http.ResponseWriter, behaviour string, asked review, uid types.UID) {
	response := &admissionv1.AdmissionResponse{UID: uid, Allowed: true}
	answered := &admissionv1.AdmissionReview{TypeMeta: asked.TypeMeta, Response: response}
	switch behaviour {
	case "allow":
	case "warn":
		response.Warnings = []string{"beware", "of\nthis \x01 too", ""}
	case "annotate":
		response.AuditAnnotations = map[string]string{"key": "value", "not a key!": "value", "long": strings.Repeat("x", 20_000)}
	case "beta":
		answered.APIVersion = "admission.k8s.io/v1beta1"
	case "deny":
		response.Allowed = false
		response.Result = &metav1.Status{Message: "not this one"}
		response.Warnings = []string{"refused"}
	case "deny-status":
		response.Allowed = false
		response.Result = &metav1.Status{Status: "Failure", Code: 422, Reason: "Strange", Message: "no", Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Message: "because"}}}}
	case "deny-nothing":
		response.Allowed = false
	case "other-uid":
		response.UID = "another"
	case "other-kind":
		answered.Kind = "Admission"
	case "patch":
		response.Patch = []byte("[]")
		response.PatchType = pointer(admissionv1.PatchTypeJSONPatch)
	case "nothing":
		answered.Response = nil
	case "empty":
		return
	case "garbage":
		_, _ = io.WriteString(w, "<html>")
		return
	case "error-500", "error-404":
		code := map[string]int{"error-500": 500, "error-404": 404}[behaviour]
		http.Error(w, "no", code)
		return
	case "redirect":
		w.Header().Set("Location", "/allow")
		w.WriteHeader(http.StatusFound)
		return
	case "hang-up":
		panic(http.ErrAbortHandler)
	case "slow":
		time.Sleep(1500 * time.Millisecond)
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	_ = json.NewEncoder(w).Encode(answered)
}
