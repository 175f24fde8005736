package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/json"
)

// testCase is one expression with the roots that its names are bound to.
type testCase struct {
	group, name, expression string
	names                   []string
	roots                   []root
}

func newCase(group, name, expression string, bound map[string]root) *testCase {
	c := &testCase{group: group, name: name, expression: expression, names: slices.Sorted(maps.Keys(bound))}
	for _, name := range c.names {
		c.roots = append(c.roots, bound[name])
	}
	return c
}

// with is the roots with another one of this name.
func with(bound map[string]root, name string, added root) map[string]root {
	copied := maps.Clone(bound)
	copied[name] = added
	return copied
}

// synthetic are expressions that stress one thing each.
func synthetic(bound map[string]root) []*testCase {
	var all []*testCase
	add := func(name, expression string) {
		all = append(all, newCase("synthetic", name, expression, bound))
	}
	add("constant", "true")
	add("field", "object.metadata.namespace == 'team-1'")
	add("fields", "object.spec.containers[0].securityContext.runAsUser > 10 && object.spec.serviceAccountName == 'server' && object.spec.securityContext.seccompProfile.type == 'RuntimeDefault'")
	add("has", "has(object.metadata.labels) && has(object.metadata.labels.app) && !has(object.metadata.labels.nope) && !has(object.spec.hostNetwork)")
	add("optional", "object.?spec.?securityContext.?runAsNonRoot.orValue(false) && !object.?spec.?hostPID.orValue(false)")
	add("in", "object.metadata.namespace in ['kube-system', 'kube-public', 'default', 'team-1']")
	add("containers", "object.spec.containers.all(c, has(c.securityContext) && has(c.securityContext.privileged) && !c.securityContext.privileged)")
	add("regex", "object.spec.containers.all(c, c.image.matches('^registry[.]example[.]com/[a-z]+/[a-z0-9]+:[v0-9.]+$'))")
	add("string-building", "'pod ' + object.metadata.name + ' in ' + object.metadata.namespace + ' has ' + string(size(object.spec.containers)) + ' containers'")
	add("list-building", "object.spec.containers.map(c, c.name).filter(n, n != 'init').size() == 2")
	add("map-building", "{'name': object.metadata.name, 'images': dyn(object.spec.containers.map(c, c.image))}.images.size() == 2")
	add("quantity", "object.spec.containers.all(c, quantity(c.resources.limits.memory).isLessThan(quantity('1Gi')))")
	add("deep-equal", "object.spec.containers[0].securityContext == object.spec.initContainers[0].securityContext")
	for _, n := range lengths {
		add(fmt.Sprintf("all/%d", n), fmt.Sprintf("data.numbers%d.all(x, x < 1000000 && x >= 0)", n))
		add(fmt.Sprintf("exists/%d", n), fmt.Sprintf("data.numbers%d.exists(x, x < 0)", n))
		add(fmt.Sprintf("maps/%d", n), fmt.Sprintf("data.maps%d.all(x, x.a < 5 || x.b.startsWith('abc'))", n))
		add(fmt.Sprintf("filter/%d", n), fmt.Sprintf("data.numbers%d.filter(x, x %% 2 == 0).size() == %d", n, n/2))
		add(fmt.Sprintf("map/%d", n), fmt.Sprintf("data.numbers%d.map(x, x + 1).size() == %d", n, n))
	}
	return all
}

// corpus are the expressions of the policies below $CELGATE_CORPUS, each once. Expressions that read the policy's variables find
// their values there as plain data.
func corpus(bound map[string]root) ([]*testCase, error) {
	dir := os.Getenv("CELGATE_CORPUS")
	if dir == "" {
		return nil, errors.New("CELGATE_CORPUS names no directory of policies")
	}
	var all []*testCase
	seen := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" {
			return err
		}
		cases, err := policyCases(path, bound)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, c := range cases {
			if !seen[c.expression] {
				seen[c.expression] = true
				all = append(all, c)
			}
		}
		return nil
	})
	return all, err
}

func policyCases(path string, bound map[string]root) ([]*testCase, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Policy admissionv1.ValidatingAdmissionPolicy `json:"policy"`
		Cases  []struct {
			Params map[string]any `json:"params"`
		} `json:"cases"`
	}
	// The apiserver's decoder: whole numbers are int64.
	if err := json.Unmarshal(content, &file); err != nil {
		return nil, err
	}
	for _, c := range file.Cases {
		if c.Params != nil {
			bound = with(bound, "params", plainRoot(c.Params))
			break
		}
	}
	group := filepath.Base(filepath.Dir(path))
	name := strings.TrimSuffix(filepath.Base(path), ".json")
	var all []*testCase
	add := func(part string, i int, expression string) {
		if expression != "" {
			all = append(all, newCase(group, fmt.Sprintf("%s/%s/%d", name, part, i), expression, bound))
		}
	}
	spec := file.Policy.Spec
	for i, c := range spec.MatchConditions {
		add("matchConditions", i, c.Expression)
	}
	values := map[string]any{}
	for i, v := range spec.Variables {
		bound = with(bound, "variables", plainRoot(maps.Clone(values)))
		add("variables", i, v.Expression)
		if value, err := evaluateOnce(newCase(group, name, v.Expression, bound)); err == nil {
			values[v.Name] = value
		}
	}
	bound = with(bound, "variables", plainRoot(values))
	for i, v := range spec.Validations {
		add("validations", i, v.Expression)
		add("messages", i, v.MessageExpression)
	}
	for i, a := range spec.AuditAnnotations {
		add("auditAnnotations", i, a.ValueExpression)
	}
	return all, nil
}
