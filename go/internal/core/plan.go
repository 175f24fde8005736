package core

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celgate/celgate/go/internal/cabi"
	"github.com/celgate/celgate/go/internal/wire"
)

// Plan is the core's plan for one kind of request, and what the core says of it (docs/abi.md, "Plan").
type Plan struct {
	*cabi.Plan
	// Empty says that nothing can match.
	Empty bool
	// Versions are the kinds into which the core wants object and oldObject converted, in its order.
	Versions []schema.GroupVersionKind
	// Params are the numbers of the param sets that matter.
	Params []uint32
	Needs  Needs
	// Matches are what webhooks are called for.
	Matches []Match

	// object and oldObject are the parts of these that anybody reads.
	object, oldObject *wire.Projection
}

// Needs says which roots of the request record are read.
type Needs struct {
	Request         bool `json:"request"`
	Object          bool `json:"object"`
	OldObject       bool `json:"oldObject"`
	NamespaceObject bool `json:"namespaceObject"`
	NamespaceLabels bool `json:"namespaceLabels"`
	ObjectLabels    bool `json:"objectLabels"`
}

// Match is a resource and kind under which a request matches.
type Match struct {
	Resource schema.GroupVersionResource
	Kind     schema.GroupVersionKind
}

// MakePlan makes the plan for one kind of request.
func MakePlan(engine *cabi.Engine, key *Key) (Plan, error) {
	encoded, err := json.Marshal(key.ref())
	if err != nil {
		return Plan{}, err
	}
	handle, data, err := engine.NewPlan(encoded)
	if err != nil {
		return Plan{}, err
	}
	var info struct {
		Empty    bool      `json:"empty"`
		Versions []kindRef `json:"versions"`
		Params   []uint32  `json:"params"`
		Needs    Needs     `json:"needs"`
		Matches  []struct {
			Resource resourceRef `json:"resource"`
			Kind     kindRef     `json:"kind"`
		} `json:"matches"`
		Projections json.RawMessage `json:"projections"`
	}
	if err := json.Unmarshal(data, &info); err != nil {
		return Plan{}, fmt.Errorf("celgate: plan: %w", err)
	}
	plan := Plan{Plan: handle, Empty: info.Empty, Params: info.Params, Needs: info.Needs}
	if plan.object, plan.oldObject, err = wire.ParseProjections(info.Projections); err != nil {
		return Plan{}, fmt.Errorf("celgate: plan: projections: %w", err)
	}
	for _, version := range info.Versions {
		plan.Versions = append(plan.Versions, schema.GroupVersionKind(version))
	}
	for _, match := range info.Matches {
		plan.Matches = append(plan.Matches, Match{Resource: schema.GroupVersionResource(match.Resource), Kind: schema.GroupVersionKind(match.Kind)})
	}
	return plan, nil
}
