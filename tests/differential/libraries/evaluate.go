package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// patience is how long upstream may take for one expression; some never end.
const patience = 20 * time.Second

// newEnvironment is the environment of stored expressions with the authorizer and strings too long for a literal.
func newEnvironment() (*cel.Env, error) {
	namespace, request := plugincel.BuildNamespaceType(), plugincel.BuildRequestType()
	set, err := environment.MustBaseEnvSet(version.MajorMinor(1, 37)).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []cel.EnvOption{
			cel.Variable("authorizer", library.AuthorizerType),
			cel.Variable("authorizer.requestResource", library.ResourceCheckType),
			cel.Variable("texts", cel.MapType(cel.StringType, cel.StringType)),
			cel.Variable("request", request.CelType()),
			cel.Variable("namespaceObject", namespace.CelType()),
		},
		DeclTypes: []*apiservercel.DeclType{namespace, request},
	})
	if err != nil {
		return nil, err
	}
	return set.StoredExpressionsEnv(), nil
}

// texts are the values of the variable of that name; the Rust side builds the same.
func texts() map[string]string {
	return map[string]string{
		"nines":  strings.Repeat("9", 100_000),
		"points": "0." + strings.Repeat("3", 100_000),
		"labels": strings.Repeat("a.", 50_000) + "a",
		"long":   strings.Repeat("é", 60_000),
		"pairs":  "/p?" + strings.Repeat("k=v&", 9_999) + "k=w",
		"toMany": "/p?" + strings.Repeat("k=v&", 10_000) + "k=w",
	}
}

// requestResource is what authorizer.requestResource checks.
type requestResource struct{}

func (requestResource) GetName() string      { return "web" }
func (requestResource) GetNamespace() string { return "ns" }
func (requestResource) GetResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
}
func (requestResource) GetSubresource() string { return "scale" }

// echo decides by verb, and gives the attributes it saw as the reason.
type echo struct{}

func (echo) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	fieldRequirements, fieldErr := a.GetFieldSelector()
	labelRequirements, labelErr := a.GetLabelSelector()
	reason := fmt.Sprintf("%s %s %t %q/%q/%q/%q/%q %q fields %t labels %t", a.GetUser().GetName(), a.GetVerb(), a.IsResourceRequest(),
		a.GetAPIGroup(), a.GetResource(), a.GetSubresource(), a.GetNamespace(), a.GetName(), a.GetPath(),
		len(fieldRequirements) > 0 || fieldErr != nil, len(labelRequirements) > 0 || labelErr != nil)
	switch a.GetVerb() {
	case "get":
		return authorizer.DecisionAllow, reason, nil
	case "fail":
		return authorizer.DecisionNoOpinion, reason, errors.New("no")
	}
	return authorizer.DecisionDeny, reason, nil
}

func evaluateAll(in io.Reader, out *bufio.Writer) error {
	env, err := newEnvironment()
	if err != nil {
		return err
	}
	bob := &user.DefaultInfo{Name: "bob"}
	activation := map[string]any{
		"authorizer":                 library.NewAuthorizerVal(bob, echo{}),
		"authorizer.requestResource": library.NewResourceAuthorizerVal(bob, echo{}, requestResource{}),
		"texts":                      texts(),
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		expression, result := lines.Text(), make(chan string, 1)
		go func() { result <- evaluate(env, activation, expression) }()
		select {
		case line := <-result:
			fmt.Fprintln(out, line)
		case <-time.After(patience):
			return fmt.Errorf("upstream takes too long for %s", expression)
		}
	}
	return lines.Err()
}

// evaluate returns the result line of one expression.
func evaluate(env *cel.Env, activation map[string]any, expression string) string {
	ast, issues := env.Compile(expression)
	if issues != nil {
		return "does not compile: " + quote(issues.String())
	}
	program, err := env.Program(ast)
	if err != nil {
		return "no program: " + quote(err.Error())
	}
	value, details, err := program.Eval(activation)
	cost := uint64(0)
	if details != nil && details.ActualCost() != nil {
		cost = *details.ActualCost()
	}
	switch {
	case err != nil:
		return fmt.Sprintf("error %s cost %d", quote(err.Error()), cost)
	case types.IsUnknown(value):
		return fmt.Sprintf("unknown cost %d", cost)
	}
	return fmt.Sprintf("%s cost %d", show(value), cost)
}
