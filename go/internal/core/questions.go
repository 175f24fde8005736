package core

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/celgate/celgate/go/internal/authz"
	"github.com/celgate/celgate/go/internal/wire"
)

// Question is something that only Go can answer (docs/abi.md, "Questions and answers").
type Question struct {
	ID   uint32 `json:"id"`
	Kind string `json:"kind"`

	// of authorize; namespace and name are those of a param, too
	authz.Check

	// of param and paramSync
	Params uint32 `json:"params"`
}

// Kinds of questions.
const (
	AskAuthorize = "authorize"
	AskNamespace = "namespace"
	AskParam     = "param"
	AskParamSync = "paramSync"
)

// Questions reads what the core asks.
func Questions(data []byte) ([]Question, error) {
	var questions []Question
	if err := json.Unmarshal(data, &questions); err != nil {
		return nil, fmt.Errorf("celgate: internal error: malformed questions: %w", err)
	}
	if len(questions) == 0 {
		return nil, errors.New("celgate: internal error: input is needed, but nothing is asked")
	}
	return questions, nil
}

// authorize answers an authorization check.
func (q *Question) authorize(answers *wire.Answers, authorizer authorizer.UnconditionalAuthorizer, requester user.Info) error {
	data, err := q.Check.Answer(authorizer, requester)
	if err != nil {
		return fmt.Errorf("celgate: internal error: authorization: %w", err)
	}
	answers.Add(q.ID, wire.Answered, data)
	return nil
}
