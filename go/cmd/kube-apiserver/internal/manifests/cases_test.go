package manifests

import (
	"fmt"
	"strings"
)

// policy is the manifest of a policy that denies everything in its own name; spec is added to it.
func policy(name string, spec ...string) string {
	return object("v1", "ValidatingAdmissionPolicy", name) + `spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}
  validations:
  - {expression: "false", message: "denied by ` + name + `"}
` + strings.Join(spec, "")
}

// binding binds a policy by its name.
func binding(name, policyName string, spec ...string) string {
	return object("v1", "ValidatingAdmissionPolicyBinding", name) + "spec:\n  policyName: " + policyName + "\n  validationActions: [Deny]\n" + strings.Join(spec, "")
}

func object(version, kind, name string) string {
	return fmt.Sprintf("apiVersion: admissionregistration.k8s.io/%s\nkind: %s\nmetadata:\n  name: %s\n", version, kind, name)
}

func both(name string) string { return policy(name) + "---\n" + binding(name, name) }

// list wraps manifests as the items of a list.
func list(version, kind string, items ...string) string {
	text := "apiVersion: " + version + "\nkind: " + kind + "\nitems:\n"
	for _, item := range items {
		text += "- " + strings.ReplaceAll(strings.TrimSuffix(item, "\n"), "\n", "\n  ") + "\n"
	}
	return text
}

const (
	a = "a.static.k8s.io"
	b = "b.static.k8s.io"
)

const asJSON = `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"a.static.k8s.io"},"spec":{
	"matchConstraints":{"resourceRules":[{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["*"]}]},
	"validations":[{"expression":"false","message":"from JSON"}]%s}}`

// files are a directory's files by their names.
type files map[string]string

// directories are what servers start with. Those that are taken must have policies that deny.
var directories = map[string]files{
	"policy and binding":            {"a.yaml": policy(a), "b.yaml": binding(a, a)},
	"several documents":             {"a.yaml": both(a) + "---\n" + both(b)},
	"binding before its policy":     {"a.yaml": binding(a, a), "b.yaml": policy(a)},
	"yml":                           {"a.yml": both(a)},
	"upper case":                    {"A.YAML": both(a)},
	"JSON":                          {"a.json": fmt.Sprintf(asJSON, ""), "b.yaml": binding(a, a)},
	"JSON in yaml":                  {"a.yaml": fmt.Sprintf(asJSON, ""), "b.yaml": binding(a, a)},
	"yaml in JSON":                  {"a.json": both(a)},
	"other files":                   {"a.yaml": both(a), "README.md": "# not: [a manifest", "b.yaml.bak": "{", "yaml": "{"},
	"folders":                       {"a.yaml": both(a), "sub/b.yaml": "{", "folder.yaml/c.yaml": "{"},
	"empty documents":               {"a.yaml": "---\n---\n" + both(a) + "---\n\n---\n", "b.yaml": "", "c.json": " \n"},
	"separators":                    {"a.yaml": "---\n" + both(a) + "---\n", "b.yaml": "", "c.json": " \n"},
	"only a comment":                {"a.yaml": both(a), "b.yaml": "# nothing\n"},
	"comments":                      {"a.yaml": "# a policy\n" + policy(a) + "# and\n---\n# its binding\n" + binding(a, a)},
	"null":                          {"a.yaml": both(a), "b.yaml": "null"},
	"carriage returns":              {"a.yaml": strings.ReplaceAll(both(a), "\n", "\r\n")},
	"byte order mark":               {"a.yaml": "\ufeff" + both(a)},
	"anchors":                       {"a.yaml": strings.Replace(policy(a), `["*"], apiVersions: ["*"]`, `&any ["*"], apiVersions: *any`, 1), "b.yaml": binding(a, a)},
	"several policies, one binding": {"a.yaml": both(a) + "---\n" + policy(b)},
	"several bindings":              {"a.yaml": both(a) + "---\n" + binding("z.static.k8s.io", a) + "---\n" + binding("b.static.k8s.io", a, "  matchResources: {namespaceSelector: {matchLabels: {team: b}}}\n")},
	"order of names, not of files":  {"a.yaml": both(b), "b.yaml": both(a)},
	"list":                          {"a.yaml": list("v1", "List", policy(a), binding(a, a))},
	"list of nothing":               {"a.yaml": list("v1", "List") + "# none", "b.yaml": both(a)},
	"list in a list":                {"a.yaml": list("v1", "List", list("v1", "List", policy(a)), binding(a, a))},
	"list with another kind":        {"a.yaml": list("v1", "List", policy(a), "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n")},
	"list of policies":              {"a.yaml": list("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyList", policy(a), policy(b)), "b.yaml": binding(a, a)},
	"list of bindings":              {"a.yaml": policy(a), "b.yaml": list("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBindingList", binding(a, a))},
	"list of policies in v1beta1":   {"a.yaml": list("admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicyList", policy(a)), "b.yaml": binding(a, a)},
	"list of policies of no kind":   {"a.yaml": list("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyList", "metadata:\n  name: "+a+"\nspec: {}\n")},
	"v1beta1":                       {"a.yaml": strings.ReplaceAll(both(a), "/v1\n", "/v1beta1\n")},
	"v1alpha1":                      {"a.yaml": strings.ReplaceAll(both(a), "/v1\n", "/v1alpha1\n")},
	"v1beta1 binding":               {"a.yaml": policy(a), "b.yaml": strings.ReplaceAll(binding(a, a), "/v1\n", "/v1beta1\n")},
	"unknown version":               {"a.yaml": strings.ReplaceAll(both(a), "/v1\n", "/v2\n")},
	"internal version":              {"a.yaml": strings.ReplaceAll(both(a), "/v1\n", "/__internal\n")},
	"no version":                    {"a.yaml": strings.ReplaceAll(both(a), "apiVersion: admissionregistration.k8s.io/v1\n", "")},
	"no kind":                       {"a.yaml": "apiVersion: admissionregistration.k8s.io/v1\nmetadata: {}\n"},
	"ConfigMap":                     {"a.yaml": both(a), "b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n"},
	"webhooks":                      {"a.yaml": object("v1", "ValidatingWebhookConfiguration", a)},
	"mutating policy":               {"a.yaml": object("v1beta1", "MutatingAdmissionPolicy", a)},
	"Status":                        {"a.yaml": "apiVersion: v1\nkind: Status\n"},
	"broken YAML":                   {"a.yaml": both(a), "b.yaml": "a: [\n"},
	"tabs":                          {"a.yaml": strings.Replace(both(a), "  name", "\tname", 1)},
	"broken JSON":                   {"a.json": strings.TrimSuffix(fmt.Sprintf(asJSON, ""), "}")},
	"JSON and more":                 {"a.json": fmt.Sprintf(asJSON, "") + fmt.Sprintf(asJSON, "")},
	"a list at the top":             {"a.yaml": "- 1\n"},
	"a text at the top":             {"a.yaml": "text\n"},
	"unknown field":                 {"a.yaml": policy(a, "  unknown: 1\n") + "---\n" + binding(a, a)},
	"unknown fields":                {"a.json": fmt.Sprintf(asJSON, `,"x":1,"Validations":[],"matchConditions":[{"nam":"a"}]`)},
	"unknown field of a binding":    {"a.yaml": policy(a), "b.yaml": binding(a, a, "  policyname: x\n")},
	"duplicate key":                 {"a.yaml": policy(a, "  failurePolicy: Ignore\n  failurePolicy: Fail\n")},
	"duplicate JSON key":            {"a.json": fmt.Sprintf(asJSON, `,"failurePolicy":"Ignore","failurePolicy":"Fail"`)},
	"wrong type":                    {"a.yaml": policy(a, "  variables: {}\n")},
	"number for a text":             {"a.yaml": strings.Replace(both(a), `"false"`, "1", 1)},
	"a bool for a text":             {"a.yaml": strings.Replace(both(a), `"false"`, "false", 1)},
	"name of another case":          {"a.yaml": strings.Replace(both(a), "metadata", "Metadata", 1)},
	"no name":                       {"a.yaml": strings.Replace(policy(a), "name: "+a, "labels: {}", 1)},
	"empty name":                    {"a.yaml": strings.Replace(policy(a), "name: "+a, `name: ""`, 1)},
	"generated name":                {"a.yaml": strings.Replace(policy(a), "name: ", "generateName: ", 1)},
	"no suffix":                     {"a.yaml": both("a")},
	"suffix alone":                  {"a.yaml": both(".static.k8s.io")},
	"suffix in upper case":          {"a.yaml": both("a.STATIC.k8s.io")},
	"binding without suffix":        {"a.yaml": policy(a) + "---\n" + binding("b", a)},
	"namespace":                     {"a.yaml": strings.Replace(both(a), "metadata:\n", "metadata:\n  namespace: ns\n", 1)},
	"long name":                     {"a.yaml": both(strings.Repeat("a", 250) + ".static.k8s.io")},
	"duplicate names":               {"a.yaml": both(a), "b.yaml": policy(a)},
	"duplicate names in one file":   {"a.yaml": both(a) + "---\n" + binding(a, a)},
	"duplicate names in a list":     {"a.yaml": list("v1", "List", policy(a), policy(a))},
	"paramKind":                     {"a.yaml": policy(a, "  paramKind: {apiVersion: v1, kind: ConfigMap}\n") + "---\n" + binding(a, a)},
	"paramRef":                      {"a.yaml": policy(a), "b.yaml": binding(a, a, "  paramRef: {name: x, parameterNotFoundAction: Allow}\n")},
	"policyName without suffix":     {"a.yaml": policy(a), "b.yaml": binding(a, "a")},
	"no policyName":                 {"a.yaml": policy(a), "b.yaml": binding(a, `""`)},
	"no policy of that name":        {"a.yaml": policy(a), "b.yaml": binding(a, b)},
	"no such file":                  nil,
	"no spec":                       {"a.yaml": object("v1", "ValidatingAdmissionPolicy", a)},
	"no rules":                      {"a.yaml": strings.Replace(policy(a), "resourceRules:\n    - {", "excludeResourceRules:\n    - {", 1)},
	"no validations":                {"a.yaml": strings.Replace(policy(a), "validations:\n  - {", "variables:\n  - {name: v, ", 1)},
	"expression does not compile":   {"a.yaml": policy(a, "  - {expression: \"object.spec. == 1\"}\n")},
	"expression is no bool":         {"a.yaml": policy(a, "  - {expression: \"1\"}\n")},
	"unknown function":              {"a.yaml": policy(a, "  - {expression: \"nosuch(object)\"}\n  - {expression: \"params.x\"}\n")},
	"messageExpression":             {"a.yaml": policy(a, "  - {expression: \"true\", messageExpression: \"1\"}\n")},
	"failurePolicy":                 {"a.yaml": policy(a, "  failurePolicy: Retry\n")},
	"reason":                        {"a.yaml": policy(a, "  - {expression: \"true\", reason: Nope}\n")},
	"matchPolicy":                   {"a.yaml": strings.Replace(policy(a), "matchConstraints:", "matchConstraints:\n    matchPolicy: Fuzzy", 1)},
	"scope":                         {"a.yaml": strings.Replace(policy(a), `{apiGroups`, `{scope: Everything, apiGroups`, 1)},
	"selector":                      {"a.yaml": strings.Replace(policy(a), "matchConstraints:", "matchConstraints:\n    objectSelector: {matchExpressions: [{key: a, operator: Is}]}", 1)},
	"variables of one name":         {"a.yaml": policy(a, "  variables: [{name: v, expression: \"1\"}, {name: v, expression: \"2\"}]\n") + "---\n" + binding(a, a)},
	"no validationActions":          {"a.yaml": policy(a), "b.yaml": strings.Replace(binding(a, a), "[Deny]", "[]", 1)},
	"Deny and Warn":                 {"a.yaml": policy(a), "b.yaml": strings.Replace(binding(a, a), "[Deny]", "[Deny, Warn]", 1)},
	"unknown action":                {"a.yaml": policy(a), "b.yaml": strings.Replace(binding(a, a), "[Deny]", "[Panic]", 1)},
	"status":                        {"a.yaml": both(a) + "---\n" + policy(b) + "status: {observedGeneration: 3, typeChecking: {}}\n"},
	"all fields": {"a.yaml": object("v1", "ValidatingAdmissionPolicy", a) + `  annotations: {x: z}
spec:
  failurePolicy: Ignore
  matchConstraints:
    matchPolicy: Exact
    namespaceSelector: {matchExpressions: [{key: team, operator: In, values: [a, c]}]}
    objectSelector: {}
    resourceRules:
    - {apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE, DELETE], resources: ["*"], scope: "*", resourceNames: [x]}
    excludeResourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: ["*"], resources: [deployments]}
  matchConditions:
  - {name: not-nobody, expression: "request.userInfo.username != 'nobody'"}
  variables:
  - {name: what, expression: "has(request.namespace) ? request.namespace : 'the cluster'"}
  validations:
  - {expression: "false", messageExpression: "'nothing in ' + variables.what", reason: Forbidden}
  - {expression: "object.spec.x == 1"}
  auditAnnotations:
  - {key: what, valueExpression: "variables.what"}
`, "b.yaml": binding(a, a) + "---\n" + strings.Replace(binding(b, a), "[Deny]", "[Warn, Audit]", 1)},
}
