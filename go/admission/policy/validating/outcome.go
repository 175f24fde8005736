package validating

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	admissionmetrics "k8s.io/apiserver/pkg/admission/metrics"
	celmetrics "k8s.io/apiserver/pkg/admission/plugin/policy/validating/metrics"
	"k8s.io/apiserver/pkg/warning"

	"github.com/celgate/celgate/go/internal/wire"
)

// outcome is what a report says happened, event by event, with upstream's effects (its dispatcher.Dispatch): warnings and metrics at once,
// audit annotations at the end of each policy, the failures' annotation and the first denial at the end of all.
type outcome struct {
	ctx        context.Context
	attributes admission.Attributes
	// witness is the attributes if they are one.
	witness Witness
	numbers numbers
	// elapsed is the time taken per evaluated policy.
	elapsed time.Duration

	hook        uint32
	annotations annotations
	failures    []ValidationFailureValue
	denied      *denial
}

// Witness is implemented by the attributes of a request that is only looked at: upstream's metrics do not count it, and it hears of every
// reason to refuse it, of which Validate returns the first.
type Witness interface {
	admission.Attributes
	// Denied is told an error that Validate would return if it were the first.
	Denied(err error)
}

// denial is the first reason why the request is refused; others are counted only.
type denial struct {
	policy *Policy
	// binding is nil if the policy itself is what is wrong.
	binding *PolicyBinding
	reason  metav1.StatusReason
	message string
}

// replay turns a report into the request's outcome.
func (d *dispatcher) replay(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces, p *plan, w *work, report []byte, elapsed time.Duration) error {
	out := outcome{ctx: ctx, attributes: a, numbers: p.numbers, elapsed: elapsed}
	out.witness, _ = a.(Witness)
	reader := wire.NewReport(report)
	var entry wire.Entry
	for reader.Next(&entry) {
		if entry.Kind == wire.EntryNamespaceError {
			if w.NamespaceError == nil {
				return d.refuse(a, o, p.view, errors.New("celgate: internal error: a namespace is missing that was not looked up"))
			}
			out.leave(entry.Hook)
			return w.NamespaceError
		}
		if err := out.add(&entry); err != nil {
			return d.refuse(a, o, p.view, err)
		}
	}
	if err := reader.Err(); err != nil {
		return d.refuse(a, o, p.view, fmt.Errorf("celgate: internal error: %w", err))
	}
	return out.finish()
}

// add takes over one event.
func (out *outcome) add(entry *wire.Entry) error {
	if uint64(entry.Hook) >= uint64(len(out.numbers.policies)) || entry.Binding != wire.NoBinding && uint64(entry.Binding) >= uint64(len(out.numbers.bindings)) {
		return fmt.Errorf("celgate: internal error: report about policy %d, binding %d", entry.Hook, entry.Binding)
	}
	out.leave(entry.Hook)
	policy := out.numbers.policies[entry.Hook]
	var binding *PolicyBinding
	if entry.Binding != wire.NoBinding {
		binding = out.numbers.bindings[entry.Binding]
	}
	switch entry.Kind {
	case wire.EntryConfigurationError:
		out.deny(policy, binding, "", entry.Text)
		return nil
	case wire.EntryMatchConditions:
		out.matchConditions(policy, entry)
		return nil
	}
	if binding == nil {
		return fmt.Errorf("celgate: internal error: report entry of kind %d without a binding", entry.Kind)
	}
	switch entry.Kind {
	case wire.EntryDecision:
		out.decision(policy, binding, entry)
	case wire.EntryAnnotation:
		out.annotations.add(entry.Key, entry.Text)
	case wire.EntryAnnotationError:
		out.deny(policy, binding, "", entry.Text)
		out.count(rejected, policy, binding, errorType(entry.Text))
	}
	return nil
}

// leave ends the policy that the events were about if the next one is about another.
func (out *outcome) leave(hook uint32) {
	if hook != out.hook {
		out.publishAnnotations()
		out.hook = hook
	}
}

func (out *outcome) publishAnnotations() {
	if len(out.annotations.keys) > 0 {
		out.annotations.publish(out.numbers.policies[out.hook].Name, out.attributes)
	}
}

func (out *outcome) decision(policy *Policy, binding *PolicyBinding, entry *wire.Entry) {
	kind := errorType(entry.Text)
	if !entry.Deny {
		out.count(admitted, policy, binding, kind)
		return
	}
	for _, action := range binding.Spec.ValidationActions {
		switch action {
		case v1.Deny:
			out.deny(policy, binding, metav1.StatusReason(entry.Reason), entry.Text)
			out.count(rejected, policy, binding, kind)
		case v1.Audit:
			out.failures = append(out.failures, ValidationFailureValue{
				ExpressionIndex:   int(entry.Expression),
				Message:           entry.Text,
				ValidationActions: binding.Spec.ValidationActions,
				Binding:           binding.Name,
				Policy:            binding.Spec.PolicyName,
			})
			out.count(audited, policy, binding, kind)
		case v1.Warn:
			warning.AddWarning(out.ctx, "", fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", policy.Name, binding.Name, entry.Text))
			out.count(warned, policy, binding, kind)
		}
	}
}

// What upstream's metrics count of decisions.
var (
	admitted = (*celmetrics.ValidatingAdmissionPolicyMetrics).ObserveAdmission
	rejected = (*celmetrics.ValidatingAdmissionPolicyMetrics).ObserveRejection
	audited  = (*celmetrics.ValidatingAdmissionPolicyMetrics).ObserveAudit
	warned   = (*celmetrics.ValidatingAdmissionPolicyMetrics).ObserveWarn
)

func (out *outcome) count(observe func(*celmetrics.ValidatingAdmissionPolicyMetrics, context.Context, time.Duration, string, string, celmetrics.ValidationErrorType),
	policy *Policy, binding *PolicyBinding, kind celmetrics.ValidationErrorType) {
	if out.witness == nil {
		observe(celmetrics.Metrics, out.ctx, out.elapsed, policy.Name, binding.Name, kind)
	}
}

func (out *outcome) matchConditions(policy *Policy, entry *wire.Entry) {
	if out.witness != nil {
		return
	}
	const kind, step = "policy", "validate"
	operation := string(out.attributes.GetOperation())
	for range entry.EvaluationErrors {
		admissionmetrics.Metrics.ObserveMatchConditionEvalError(out.ctx, policy.Name, kind, step, operation)
	}
	if entry.Observed {
		admissionmetrics.Metrics.ObserveMatchConditionEvaluationTime(out.ctx, out.elapsed, policy.Name, kind, step, operation)
	}
}

func (out *outcome) deny(policy *Policy, binding *PolicyBinding, reason metav1.StatusReason, message string) {
	if out.denied != nil && out.witness == nil {
		return
	}
	denied := &denial{policy: policy, binding: binding, reason: reason, message: message}
	if out.denied == nil {
		out.denied = denied
	}
	if out.witness != nil {
		out.witness.Denied(denied.error(out.attributes))
	}
}

func (out *outcome) finish() error {
	out.publishAnnotations()
	publishFailures(out.attributes, out.failures)
	if out.denied == nil {
		return nil
	}
	return out.denied.error(out.attributes)
}

// error is the status that the client gets.
func (d *denial) error(a admission.Attributes) error {
	message := fmt.Sprintf("ValidatingAdmissionPolicy '%s' denied request: %s", d.policy.Name, d.message)
	if d.binding != nil {
		message = fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", d.policy.Name, d.binding.Name, d.message)
	}
	forbidden := admission.NewForbidden(a, errors.New(message))
	var status *apierrors.StatusError
	if !errors.As(forbidden, &status) {
		return forbidden
	}
	status.ErrStatus.Reason = d.reason
	if d.reason == "" {
		status.ErrStatus.Reason = metav1.StatusReasonInvalid
	}
	status.ErrStatus.Code = codeOf(status.ErrStatus.Reason)
	if status.ErrStatus.Details == nil {
		status.ErrStatus.Details = &metav1.StatusDetails{}
	}
	status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, metav1.StatusCause{Message: message})
	return status
}

func codeOf(reason metav1.StatusReason) int32 {
	switch reason {
	case metav1.StatusReasonForbidden:
		return http.StatusForbidden
	case metav1.StatusReasonUnauthorized:
		return http.StatusUnauthorized
	case metav1.StatusReasonRequestEntityTooLarge:
		return http.StatusRequestEntityTooLarge
	default:
		return http.StatusUnprocessableEntity
	}
}

// errorType gives the label that upstream's metrics get for a decision. Upstream tells it by how the message begins, whoever wrote it.
func errorType(message string) celmetrics.ValidationErrorType {
	switch {
	case strings.HasPrefix(message, "compilation"):
		return celmetrics.ValidationCompileError
	case strings.HasPrefix(message, "validation failed due to running out of cost budget"):
		return celmetrics.ValidatingOutOfBudget
	default:
		return celmetrics.ValidatingInvalidError
	}
}
