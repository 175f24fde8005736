// Package authz answers the core's authorization checks.
package authz

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Check is an authorization check, as the core asks for it (docs/abi.md, "Questions and answers").
type Check struct {
	Account       *ServiceAccount `json:"serviceAccount"`
	Verb          string          `json:"verb"`
	Path          *string         `json:"path"`
	Group         string          `json:"group"`
	Resource      string          `json:"resource"`
	Subresource   string          `json:"subresource"`
	Namespace     string          `json:"namespace"`
	Name          string          `json:"name"`
	FieldSelector string          `json:"fieldSelector"`
	LabelSelector string          `json:"labelSelector"`
}

// ServiceAccount is who a check is about in place of the request's user.
type ServiceAccount struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Answer asks the authorizer as upstream's CEL library does (k8s.io/apiserver/pkg/cel/library/authz.go), and returns the answer as the
// core reads it.
func (c *Check) Answer(authz authorizer.UnconditionalAuthorizer, requester user.Info) ([]byte, error) {
	// Upstream does not end these checks with the request.
	decision, reason, err := authz.Authorize(context.Background(), c.attributes(c.subject(requester)))
	answer := struct {
		Decision string  `json:"decision"`
		Reason   string  `json:"reason"`
		Error    *string `json:"error"`
	}{Decision: "noOpinion", Reason: reason}
	switch decision {
	case authorizer.DecisionAllow:
		answer.Decision = "allow"
	case authorizer.DecisionDeny:
		answer.Decision = "deny"
	}
	if err != nil {
		text := err.Error()
		answer.Error = &text
	}
	return json.Marshal(answer)
}

// subject is who is asked about: the request's user or a service account.
func (c *Check) subject(requester user.Info) user.Info {
	if c.Account == nil {
		return requester
	}
	account := serviceaccount.ServiceAccountInfo{Name: c.Account.Name, Namespace: c.Account.Namespace}
	return account.UserInfo()
}

func (c *Check) attributes(subject user.Info) *authorizer.AttributesRecord {
	if c.Path != nil {
		return &authorizer.AttributesRecord{Path: *c.Path, Verb: c.Verb, User: subject}
	}
	attributes := &authorizer.AttributesRecord{
		ResourceRequest: true,
		APIGroup:        c.Group,
		APIVersion:      "*",
		Resource:        c.Resource,
		Subresource:     c.Subresource,
		Namespace:       c.Namespace,
		Name:            c.Name,
		Verb:            c.Verb,
		User:            subject,
	}
	if c.FieldSelector != "" {
		selector, err := fields.ParseSelector(c.FieldSelector)
		if err != nil {
			attributes.FieldSelectorParsingErr = err
		} else {
			attributes.FieldSelectorRequirements = selector.Requirements()
		}
	}
	if c.LabelSelector != "" {
		attributes.LabelSelectorRequirements, attributes.LabelSelectorParsingErr = labels.ParseToRequirements(c.LabelSelector)
		if attributes.LabelSelectorParsingErr != nil {
			attributes.LabelSelectorRequirements = nil
		}
	}
	return attributes
}
