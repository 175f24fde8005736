package validating

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	"k8s.io/klog/v2"

	"github.com/celgate/celgate/go/internal/cabi"
	"github.com/celgate/celgate/go/internal/core"
	"github.com/celgate/celgate/go/internal/wire"
)

// maxRounds bounds the questions and pauses of one request. Each round answers what was unknown or spends a step budget, and conditions
// have cost limits, so only a bug can reach it.
const maxRounds = 100_000

// versions gives a request's objects in other versions, each converted once.
type versions struct {
	attributes admission.Attributes
	objects    admission.ObjectInterfaces
	converted  map[schema.GroupVersionKind]*admission.VersionedAttributes
}

var _ generic.VersionedAttributeAccessor = &versions{}

// VersionedAttribute gives the request with its objects converted to a kind.
func (v *versions) VersionedAttribute(kind schema.GroupVersionKind) (*admission.VersionedAttributes, error) {
	if known := v.converted[kind]; known != nil {
		return known, nil
	}
	made, err := admission.NewVersionedAttributes(v.attributes, kind, v.objects)
	if err != nil {
		return nil, err
	}
	if v.converted == nil {
		v.converted = map[schema.GroupVersionKind]*admission.VersionedAttributes{}
	}
	v.converted[kind] = made
	return made, nil
}

// decide calls the webhooks of a snapshot that the request matches.
func (p *Plugin) decide(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces, s *snapshot) error {
	plan, err := p.plan(s, a, o)
	if err == nil && plan.Empty {
		return nil
	}
	m := matching{ctx: ctx, versions: versions{attributes: a, objects: o}, hooks: s.hooks, metrics: &s.metrics}
	if err == nil {
		err = p.match(&m, plan)
	}
	if failure := (*coreError)(nil); errors.As(err, &failure) {
		// A bug must not decide: upstream's own matching does.
		klog.ErrorS(failure, "celgate could not match webhooks, upstream's matching decides", "resource", a.GetResource(), "subresource", a.GetSubresource(), "operation", a.GetOperation())
		coreFailures.Inc()
		err = p.matchAsUpstream(&m, s)
	}
	if err != nil || len(m.calls) == 0 {
		return err
	}
	return p.call(ctx, &m)
}

// matching is what comes of matching a request.
type matching struct {
	ctx      context.Context
	versions versions
	hooks    []webhook.WebhookAccessor
	metrics  *conditionMetrics
	// calls are the webhooks to call, in order; each version that they want has been converted.
	calls []*generic.WebhookInvocation
}

// coreError is a failure of the core, not of the request.
type coreError struct{ error }

func internalError(format string, args ...any) error {
	return &coreError{fmt.Errorf("internal error: "+format, args...)}
}

// match lets the core find out which webhooks are called, answering its questions. The error is what the request is refused with, or a
// coreError.
func (p *Plugin) match(m *matching, plan *core.Plan) error {
	start := time.Now()
	w := p.works.Get().(*core.Work)
	defer func() { w.Reset(); p.works.Put(w) }()
	a := m.versions.attributes
	e := plan.Encoder()
	defer e.Put()
	plan.Encode(e, &p.namespaces, a, m.versions.objects)
	var evaluations uint64
	ended := false
	for range maxRounds {
		if !ended && m.ctx.Err() != nil {
			// Upstream goes on, too: what becomes of that is the expressions' to say.
			ended = true
			w.Answers.End(context.Cause(m.ctx))
		}
		out, status := plan.Evaluate(w.Scratch, e.Bytes(), nil, w.Answers.Bytes())
		evaluations += w.Scratch.Evaluations()
		w.Answers.Reset()
		switch status {
		case cabi.OK:
			elapsed := time.Since(start)
			matchingSeconds.Observe(elapsed.Seconds())
			return m.replay(out, plan, w, elapsed/time.Duration(max(evaluations, 1)))
		case cabi.NeedsInput:
			if err := p.answer(a, w, out); err != nil {
				return &coreError{err}
			}
		case cabi.Yield:
		case cabi.Invalid:
			return internalError("%s: %s", status, out)
		default:
			return internalError("%s", status)
		}
	}
	return internalError("matching does not end")
}

// answer answers all questions of one call.
func (p *Plugin) answer(a admission.Attributes, w *core.Work, data []byte) error {
	questions, err := core.Questions(data)
	if err != nil {
		return err
	}
	for i := range questions {
		// Upstream does not end the look-up of a namespace with the request.
		answered, err := w.Answer(context.Background(), &questions[i], p.authorizer, &p.namespaces, a)
		if err != nil {
			return err
		}
		if !answered {
			return fmt.Errorf("unknown question %q", questions[i].Kind)
		}
	}
	return nil
}

// replay turns the core's report into calls and metrics, event by event, as upstream goes through its webhooks; elapsed is the time per
// evaluated webhook.
func (m *matching) replay(report []byte, plan *core.Plan, w *core.Work, elapsed time.Duration) error {
	a := m.versions.attributes
	observer := newConditionObserver(m.ctx, m.metrics, len(m.hooks), a.GetOperation(), elapsed)
	defer observer.finish()
	reader := wire.NewReport(report)
	var entry wire.Entry
	for reader.Next(&entry) {
		if uint64(entry.Hook) >= uint64(len(m.hooks)) {
			return internalError("report about webhook %d", entry.Hook)
		}
		hook := m.hooks[entry.Hook]
		switch entry.Kind {
		case wire.EntryMatchConditions:
			observer.observe(int(entry.Hook), hook, &entry)
		case wire.EntryDecision:
			klog.Warningf("Match conditions of webhook %q failed, failing closed: %s", hook.GetName(), entry.Text)
			return apierrors.NewForbidden(a.GetResource().GroupResource(), a.GetName(), errors.New(entry.Text))
		case wire.EntryConfigurationError:
			return apierrors.NewInternalError(errors.New(entry.Text))
		case wire.EntryNamespaceError:
			if err := core.LabelsError(a, w.NamespaceError); err != nil {
				return err
			}
			return internalError("the namespace's labels are missing, but were not looked up")
		case wire.EntryCall, wire.EntryNotConverted:
			if uint64(entry.Match) >= uint64(len(plan.Matches)) {
				return internalError("report about match %d", entry.Match)
			}
			match := plan.Matches[entry.Match]
			if _, err := m.versions.VersionedAttribute(match.Kind); err != nil {
				return apierrors.NewInternalError(err)
			}
			if entry.Kind == wire.EntryNotConverted {
				return internalError("the objects could not be converted to %v, but can be", match.Kind)
			}
			m.calls = append(m.calls, &generic.WebhookInvocation{Webhook: hook, Resource: match.Resource, Subresource: a.GetSubresource(), Kind: match.Kind})
		default:
			return internalError("report entry of kind %d", entry.Kind)
		}
	}
	if err := reader.Err(); err != nil {
		return &coreError{err}
	}
	return nil
}

// matchAsUpstream goes through the webhooks with upstream's code.
func (p *Plugin) matchAsUpstream(m *matching, s *snapshot) error {
	a := m.versions.attributes
	m.calls = nil
	hooks := s.hooks
	switch p.exemption(a) {
	case exemptFromAll:
		return nil
	case exemptFromAPI:
		hooks = s.static
	}
	for _, hook := range hooks {
		call, refused := p.ShouldCallHook(m.ctx, hook, a, m.versions.objects, &m.versions)
		switch {
		case refused != nil:
			return refused
		case call == nil:
			continue
		}
		if _, err := m.versions.VersionedAttribute(call.Kind); err != nil {
			return apierrors.NewInternalError(err)
		}
		m.calls = append(m.calls, call)
	}
	return nil
}
