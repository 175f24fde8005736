// Package examples reads the scenarios of examples/: policies, webhooks, dry-run requests, and the answers that upstream's engine gave.
package examples

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Scenario is one directory of examples/: what policies.yaml has is applied, then the requests of requests.yaml are sent and compared with
// expected.json, which was recorded from upstream's engine.
type Scenario struct {
	Name     string    `json:"-"`
	Title    string    `json:"title"`
	Requests []Request `json:"requests"`
	// Setup is what policies.yaml has.
	Setup []*unstructured.Unstructured `json:"-"`
	// Expected has an answer for each request, or none if nothing is recorded yet.
	Expected []Answer `json:"-"`
	dir      string
}

// Verdict is what a request is meant to meet.
type Verdict string

// The verdicts.
const (
	Allowed Verdict = "allowed"
	Warned  Verdict = "warned"
	Audited Verdict = "audited"
	Denied  Verdict = "denied"
)

// Request is one dry-run request of a scenario.
type Request struct {
	Name   string  `json:"name"`
	Expect Verdict `json:"expect"`
	// Operation is create, which an empty one is, too, update or delete.
	Operation string `json:"operation"`
	// As is the user; the administrator if it is empty.
	As string `json:"as"`
	// Exempt says that no policy can match.
	Exempt bool           `json:"exempt"`
	Object map[string]any `json:"object"`
}

// Answer is all that a client and the audit log see of an admission decision.
type Answer struct {
	Request     string            `json:"request"`
	Code        int               `json:"code"`
	Reason      string            `json:"reason,omitempty"`
	Message     string            `json:"message,omitempty"`
	Causes      []string          `json:"causes,omitempty"`
	Warnings    []string          `json:"warnings,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// mostText is how many bytes of an answer that is no status are shown.
const mostText = 300

// AnswerOf is the part of a response that admission made, without what the audit log adds.
func AnswerOf(request string, code int, body []byte, warnings []string) Answer {
	a := Answer{Request: request, Code: code, Warnings: warnings}
	if code < 400 {
		return a
	}
	var status metav1.Status
	if json.Unmarshal(body, &status) != nil {
		line, _, _ := strings.Cut(string(body), "\n")
		a.Message = line[:min(len(line), mostText)]
		return a
	}
	a.Reason, a.Message = string(status.Reason), status.Message
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			a.Causes = append(a.Causes, cause.Message)
		}
	}
	return a
}

// Verdict is how the answer reads.
func (a *Answer) Verdict() Verdict {
	switch {
	case a.Code >= 400:
		return Denied
	case len(a.Warnings) > 0:
		return Warned
	case len(a.Annotations) > 0:
		return Audited
	default:
		return Allowed
	}
}

// HasWebhooks says whether the scenario's webhooks must be served for its answers to be the expected ones; their addresses in policies.yaml are
// placeholders.
func (s *Scenario) HasWebhooks() bool {
	return slices.ContainsFunc(s.Setup, func(object *unstructured.Unstructured) bool {
		return object.GetKind() == "ValidatingWebhookConfiguration"
	})
}

// Load reads all scenarios under dir, in the order of their names.
func Load(dir string) ([]*Scenario, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "requests.yaml"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no scenarios (*/requests.yaml)", dir)
	}
	var scenarios []*Scenario
	for _, file := range files {
		s, err := loadScenario(filepath.Dir(file))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Dir(file), err)
		}
		scenarios = append(scenarios, s)
	}
	return scenarios, nil
}

func loadScenario(dir string) (*Scenario, error) {
	s := &Scenario{dir: dir, Name: filepath.Base(dir)}
	requests, err := os.ReadFile(filepath.Join(dir, "requests.yaml"))
	if err != nil {
		return nil, err
	}
	if err := yaml.UnmarshalStrict(requests, s); err != nil {
		return nil, err
	}
	policies, err := os.Open(filepath.Join(dir, "policies.yaml"))
	if err != nil {
		return nil, err
	}
	defer policies.Close()
	decoder := utilyaml.NewYAMLOrJSONDecoder(policies, 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("policies.yaml: %w", err)
		}
		if len(object.Object) > 0 {
			s.Setup = append(s.Setup, object)
		}
	}
	recorded, err := os.ReadFile(s.expectedFile())
	if os.IsNotExist(err) {
		return s, nil
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(recorded, &s.Expected); err != nil {
		return nil, fmt.Errorf("expected.json: %w", err)
	}
	if len(s.Expected) != len(s.Requests) {
		return nil, fmt.Errorf("expected.json has %d answers, requests.yaml %d requests: record again", len(s.Expected), len(s.Requests))
	}
	return s, nil
}

func (s *Scenario) expectedFile() string { return filepath.Join(s.dir, "expected.json") }

// Record writes answers as the expected ones.
func (s *Scenario) Record(answers []Answer) error {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(answers); err != nil {
		return err
	}
	return os.WriteFile(s.expectedFile(), out.Bytes(), 0o644)
}
