package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// scenario is one directory of examples/: policies.yaml is applied, then the requests of requests.yaml are sent and compared with
// expected.json, which was recorded from upstream's engine.
type scenario struct {
	dir      string
	name     string
	Title    string    `json:"title"`
	Requests []request `json:"requests"`
	setup    []*unstructured.Unstructured
	expected []answer
}

// verdict is what a request is meant to meet.
type verdict string

const (
	allowed verdict = "allowed"
	warned  verdict = "warned"
	audited verdict = "audited"
	denied  verdict = "denied"
)

// request is one dry-run request of a scenario.
type request struct {
	Name      string         `json:"name"`
	Expect    verdict        `json:"expect"`
	Operation string         `json:"operation"`
	As        string         `json:"as"`
	Exempt    bool           `json:"exempt"`
	Object    map[string]any `json:"object"`
}

// answer is all that a client and the audit log see of an admission decision.
type answer struct {
	Request     string            `json:"request"`
	Code        int               `json:"code"`
	Reason      string            `json:"reason,omitempty"`
	Message     string            `json:"message,omitempty"`
	Causes      []string          `json:"causes,omitempty"`
	Warnings    []string          `json:"warnings,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// verdict is how the answer reads.
func (a *answer) verdict() verdict {
	switch {
	case a.Code >= 400:
		return denied
	case len(a.Warnings) > 0:
		return warned
	case len(a.Annotations) > 0:
		return audited
	default:
		return allowed
	}
}

// loadScenarios reads all scenarios under dir, in the order of their names.
func loadScenarios(dir string) ([]*scenario, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "requests.yaml"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no scenarios (*/requests.yaml)", dir)
	}
	var scenarios []*scenario
	for _, file := range files {
		s, err := loadScenario(filepath.Dir(file))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Dir(file), err)
		}
		scenarios = append(scenarios, s)
	}
	return scenarios, nil
}

func loadScenario(dir string) (*scenario, error) {
	s := &scenario{dir: dir, name: filepath.Base(dir)}
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
			s.setup = append(s.setup, object)
		}
	}
	recorded, err := os.ReadFile(s.expectedFile())
	if os.IsNotExist(err) {
		return s, nil
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(recorded, &s.expected); err != nil {
		return nil, fmt.Errorf("expected.json: %w", err)
	}
	if len(s.expected) != len(s.Requests) {
		return nil, fmt.Errorf("expected.json has %d answers, requests.yaml %d requests: record again", len(s.expected), len(s.Requests))
	}
	return s, nil
}

func (s *scenario) expectedFile() string { return filepath.Join(s.dir, "expected.json") }

// record writes answers as the expected ones.
func (s *scenario) record(answers []answer) error {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(answers); err != nil {
		return err
	}
	return os.WriteFile(s.expectedFile(), out.Bytes(), 0o644)
}
