package differential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/celgate/celgate/go/internal/authz"
	"github.com/celgate/celgate/go/internal/wire"
)

// What the request is about.
const (
	theSubresource = "scale"
	theNamespace   = "ns"
	theName        = "web"
)

var (
	theResource = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	theUser     = &user.DefaultInfo{Name: "bob", Groups: []string{"builders"}}
)

// requestResource is what authorizer.requestResource checks.
type requestResource struct{}

func (requestResource) GetName() string                          { return theName }
func (requestResource) GetNamespace() string                     { return theNamespace }
func (requestResource) GetResource() schema.GroupVersionResource { return theResource }
func (requestResource) GetSubresource() string                   { return theSubresource }

// echo decides by verb, and gives all that it was asked as the reason.
type echo struct{}

func (echo) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	fieldRequirements, fieldErr := a.GetFieldSelector()
	labelRequirements, labelErr := a.GetLabelSelector()
	reason := fmt.Sprintf("%s %v %s %t %q/%q/%q/%q/%q %q fields %v %v labels %v %v", a.GetUser().GetName(), a.GetUser().GetGroups(), a.GetVerb(),
		a.IsResourceRequest(), a.GetAPIGroup(), a.GetResource(), a.GetSubresource(), a.GetNamespace(), a.GetName(), a.GetPath(),
		fieldRequirements, fieldErr, labelRequirements, labelErr)
	switch a.GetVerb() {
	case "get":
		return authorizer.DecisionAllow, reason, nil
	case "fail":
		return authorizer.DecisionNoOpinion, reason, errors.New("no")
	}
	return authorizer.DecisionDeny, reason, nil
}

// bindAuthorizer adds upstream's values for the authorizer.
func bindAuthorizer(activation map[string]any) {
	activation[authorizerName] = library.NewAuthorizerVal(theUser, echo{})
	activation[requestResourceName] = library.NewResourceAuthorizerVal(theUser, echo{}, requestResource{})
}

// answer answers the core's questions.
func answer(data []byte) ([]byte, error) {
	var questions []struct {
		ID   uint32 `json:"id"`
		Kind string `json:"kind"`
		authz.Check
	}
	if err := json.Unmarshal(data, &questions); err != nil {
		return nil, fmt.Errorf("malformed questions %s: %w", data, err)
	}
	var answers wire.Answers
	for i := range questions {
		if questions[i].Kind != "authorize" {
			return nil, fmt.Errorf("unexpected question %q", questions[i].Kind)
		}
		text, err := questions[i].Answer(echo{}, theUser)
		if err != nil {
			return nil, err
		}
		answers.Add(questions[i].ID, wire.Answered, text)
	}
	return answers.Bytes(), nil
}
