package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// placeholderHost stands for the demo's webhook server in examples/: its address and authority are others in each run.
	placeholderHost = "webhook.example.invalid"
	// mostReview is how many bytes of a review are read.
	mostReview = 4 << 20
)

// webhookServer is the webhooks of examples/, served over TLS. What they answer names no address, so that it is the same in each run.
type webhookServer struct {
	http *http.Server
	host string
	// authority is the certificate that vouches for the server, in PEM.
	authority []byte
}

// startWebhooks starts the server on a free port.
func startWebhooks() (*webhookServer, error) {
	certificate, authority, err := newCertificate(net.IPv4(127, 0, 0, 1))
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	routes := http.NewServeMux()
	routes.Handle("POST /advise", webhook(advise))
	routes.Handle("POST /refuse", webhook(refuse))
	s := &webhookServer{
		http: &http.Server{
			Handler:           routes,
			TLSConfig:         &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12},
			ReadHeaderTimeout: 10 * time.Second,
		},
		host:      listener.Addr().String(),
		authority: authority,
	}
	go func() { _ = s.http.ServeTLS(listener, "", "") }() // it ends by Close; calls that fail show in the table
	return s, nil
}

// Close ends the server.
func (s *webhookServer) Close() { _ = s.http.Close() }

// adopt puts the server's address and authority in place of the placeholder in a ValidatingWebhookConfiguration; other objects stay as they are.
func (s *webhookServer) adopt(object *unstructured.Unstructured) error {
	hooks, found, err := unstructured.NestedSlice(object.Object, "webhooks")
	if err != nil || !found {
		return err
	}
	for _, hook := range hooks {
		fields, ok := hook.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: a webhook is no object", object.GetName())
		}
		address, _, err := unstructured.NestedString(fields, "clientConfig", "url")
		if err != nil {
			return err
		}
		target, err := url.Parse(address)
		if err != nil {
			return err
		}
		if target.Host != placeholderHost {
			continue
		}
		target.Host = s.host
		config := map[string]any{"url": target.String(), "caBundle": base64.StdEncoding.EncodeToString(s.authority)}
		if err := unstructured.SetNestedMap(fields, config, "clientConfig"); err != nil {
			return err
		}
	}
	return unstructured.SetNestedSlice(object.Object, hooks, "webhooks")
}

// webhook answers reviews.
func webhook(answer func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostReview))
		if err == nil {
			err = json.Unmarshal(body, &review)
		}
		if err != nil || review.Request == nil {
			http.Error(w, "no AdmissionReview", http.StatusBadRequest)
			return
		}
		response := answer(review.Request)
		response.UID = review.Request.UID
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(&admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Response: response}) // who does not listen gets nothing
	})
}

// advise allows, and says what it was shown.
func advise(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	shown := r.Object.Raw
	if r.Operation == admissionv1.Delete {
		shown = r.OldObject.Raw
	}
	var kind metav1.TypeMeta
	if err := json.Unmarshal(shown, &kind); err != nil {
		return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: err.Error()}}
	}
	text := fmt.Sprintf("%s of %s %s %s", r.Operation, kind.APIVersion, kind.Kind, r.Name)
	if r.RequestKind != nil && *r.RequestKind != r.Kind {
		text += ", sent in " + r.RequestKind.Version
	}
	return &admissionv1.AdmissionResponse{
		Allowed:          true,
		Warnings:         []string{"advice about the " + text},
		AuditAnnotations: map[string]string{"shown": text + " by " + r.UserInfo.Username},
	}
}

// refuse denies.
func refuse(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Result: &metav1.Status{
		Code:    http.StatusForbidden,
		Reason:  metav1.StatusReasonForbidden,
		Message: fmt.Sprintf("%s may not %s %s", r.UserInfo.Username, r.Operation, r.Name),
	}}
}

// newCertificate makes an authority that nobody keeps, and a certificate of its for an address.
func newCertificate(address net.IP) (certificate *tls.Certificate, authority []byte, err error) {
	now := time.Now()
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "celgate demo"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
	}
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, rootKey.Public(), rootKey)
	if err != nil {
		return nil, nil, err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "celgate demo's webhooks"}, NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{address},
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, leafKey.Public(), rootKey)
	if err != nil {
		return nil, nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{leafDER}, PrivateKey: leafKey}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER}), nil
}
