package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/celgate/celgate/go/internal/testserver"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// client sends plain HTTP, to see all of an answer: status, warnings and the audit ID.
type client struct {
	server *testserver.Server
	mapper *restmapper.DeferredDiscoveryRESTMapper
	users  map[string]*http.Client
	host   string
}

func newClient(s *testserver.Server) (*client, error) {
	config, err := s.Config("")
	if err != nil {
		return nil, err
	}
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco))
	return &client{server: s, mapper: mapper, users: map[string]*http.Client{}, host: config.Host}, nil
}

func (c *client) as(user string) (*http.Client, error) {
	if known := c.users[user]; known != nil {
		return known, nil
	}
	config, err := c.server.Config(user)
	if err != nil {
		return nil, err
	}
	made, err := rest.HTTPClientFor(config)
	if err == nil {
		c.users[user] = made
	}
	return made, err
}

// response is one answer of the server.
type response struct {
	code     int
	body     []byte
	warnings []string
	auditID  string
}

// send sends object; operation is create, update or delete.
func (c *client) send(ctx context.Context, user, operation string, object *unstructured.Unstructured, dryRun bool) (*response, error) {
	kind := object.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		c.mapper.Reset()
		mapping, err = c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	}
	if err != nil {
		return nil, err
	}
	path := "/apis/" + kind.Group + "/" + kind.Version
	if kind.Group == "" {
		path = "/api/" + kind.Version
	}
	if object.GetNamespace() != "" {
		path += "/namespaces/" + object.GetNamespace()
	}
	path += "/" + mapping.Resource.Resource
	method := http.MethodPost
	switch operation {
	case "", "create":
	case "update":
		method, path = http.MethodPut, path+"/"+object.GetName()
	case "delete":
		method, path = http.MethodDelete, path+"/"+object.GetName()
	default:
		return nil, fmt.Errorf("unknown operation %q", operation)
	}
	target := c.host + path
	if dryRun {
		target += "?" + url.Values{"dryRun": {metav1.DryRunAll}}.Encode()
	}
	body, err := object.MarshalJSON()
	if err != nil {
		return nil, err
	}
	if operation == "delete" {
		body = nil
	}
	return c.do(ctx, user, method, target, body)
}

func (c *client) do(ctx context.Context, user, method, target string, body []byte) (*response, error) {
	http, err := c.as(user)
	if err != nil {
		return nil, err
	}
	req, err := newRequest(ctx, method, target, body)
	if err != nil {
		return nil, err
	}
	res, err := http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	r := &response{code: res.StatusCode, body: answer, auditID: res.Header.Get("Audit-Id")}
	warnings, errs := utilnet.ParseWarningHeaders(res.Header["Warning"])
	if len(errs) > 0 {
		return nil, fmt.Errorf("unreadable Warning headers: %v", errs)
	}
	for _, warning := range warnings {
		r.warnings = append(r.warnings, warning.Text)
	}
	return r, nil
}

func newRequest(ctx context.Context, method, target string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	return req, nil
}

// apply creates an object for good, waiting until its kind is served.
func (c *client) apply(ctx context.Context, object *unstructured.Unstructured) error {
	deadline := time.Now().Add(20 * time.Second)
	for {
		res, err := c.send(ctx, "", "create", object, false)
		switch {
		case err == nil && (res.code < 300 || res.code == http.StatusConflict):
			return nil
		case err == nil:
			err = fmt.Errorf("%d: %s", res.code, res.body)
		}
		if time.Now().After(deadline) || (res != nil && res.code != http.StatusNotFound) {
			return fmt.Errorf("cannot create %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
