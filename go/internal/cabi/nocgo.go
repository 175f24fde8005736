//go:build !cgo

package cabi

import "errors"

var errMissing = errors.New("celgate: the engine is missing: this binary was built without cgo")

// Available reports that the engine is missing from this build.
func Available() error { return errMissing }

// Policy is never made in this build.
type Policy struct{}

// Binding is never made in this build.
type Binding struct{}

// Params is never made in this build.
type Params struct{}

// Webhook is never made in this build.
type Webhook struct{}

// Engine is never made in this build.
type Engine struct{}

// Plan is never made in this build.
type Plan struct{}

// Scratch is never made in this build.
type Scratch struct{}

// Live is 0: there are no handles.
func Live() int64 { return 0 }

// Trim has nothing to give back.
func Trim() {}

// NewPolicy reports that the engine is missing.
func NewPolicy([]byte) (*Policy, error) { return nil, errMissing }

// Evaluations is 0.
func (*Policy) Evaluations() uint64 { return 0 }

// NewBinding reports that the engine is missing.
func NewBinding([]byte) (*Binding, error) { return nil, errMissing }

// NewParams reports that the engine is missing.
func NewParams(*Params, []byte) (*Params, error) { return nil, errMissing }

// NewEngine reports that the engine is missing.
func NewEngine([]Hook, []*Binding) (*Engine, error) { return nil, errMissing }

// NewWebhook reports that the engine is missing.
func NewWebhook([]byte) (*Webhook, error) { return nil, errMissing }

// NewWebhookEngine reports that the engine is missing.
func NewWebhookEngine([]*Webhook) (*Engine, error) { return nil, errMissing }

// NewPlan reports that the engine is missing.
func (*Engine) NewPlan([]byte) (*Plan, []byte, error) { return nil, nil, errMissing }

// TypeCheck reports that the engine is missing.
func TypeCheck([]byte) ([]byte, error) { return nil, errMissing }

// NewScratch makes a scratch that no plan can use.
func NewScratch() *Scratch { return &Scratch{} }

// Reset does nothing.
func (*Scratch) Reset() {}

// Evaluations is 0.
func (*Scratch) Evaluations() uint64 { return 0 }

// Evaluate cannot be reached, as no plan can be made; it fails closed.
func (*Plan) Evaluate(*Scratch, []byte, []*Params, []byte) ([]byte, Status) { return nil, Invalid }
