package harness

import (
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	// Both register what is counted here.
	_ "k8s.io/apiserver/pkg/admission/metrics"
	_ "k8s.io/apiserver/pkg/admission/plugin/policy/validating/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// families are upstream's metrics about policies and webhooks.
var families = []string{
	"apiserver_validating_admission_policy_check_total",
	"apiserver_validating_admission_policy_check_duration_seconds",
	"apiserver_admission_match_condition_evaluation_errors_total",
	"apiserver_admission_match_condition_evaluation_seconds",
	"apiserver_admission_match_condition_exclusions_total",
	"apiserver_admission_webhook_admission_duration_seconds",
	"apiserver_admission_webhook_fail_open_count",
	"apiserver_admission_webhook_rejection_count",
	"apiserver_admission_webhook_request_total",
}

// Counts are how often upstream's metrics were observed, by name and labels. Times are not told, as no two runs have the same.
type Counts map[string]uint64

// GatherCounts reads the process's metrics about policies and webhooks whose name begins with prefix.
func GatherCounts(prefix string) (Counts, error) {
	all, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		return nil, err
	}
	counts := Counts{}
	for _, family := range all {
		if !slices.Contains(families, family.GetName()) {
			continue
		}
		for _, metric := range family.GetMetric() {
			if labels, ours := labelText(metric, prefix); ours {
				counts[strings.TrimPrefix(family.GetName(), "apiserver_")+labels] = metricCount(metric)
			}
		}
	}
	return counts, nil
}

func labelText(metric *dto.Metric, prefix string) (text string, ours bool) {
	for _, label := range metric.GetLabel() {
		if name := label.GetName(); name == "policy" || name == "name" {
			ours = strings.HasPrefix(label.GetValue(), prefix)
		}
	}
	if !ours {
		return "", false
	}
	var labels []byte
	for _, label := range metric.GetLabel() {
		labels = append(append(append(labels, ' '), label.GetName()...), '=')
		labels = strconv.AppendQuote(labels, label.GetValue())
	}
	return string(labels), true
}

func metricCount(metric *dto.Metric) uint64 {
	if histogram := metric.GetHistogram(); histogram != nil {
		return histogram.GetSampleCount()
	}
	return uint64(metric.GetCounter().GetValue())
}

// Since gives what was counted after an earlier reading.
func (c Counts) Since(before Counts) Counts {
	since := Counts{}
	for key, count := range c {
		if added := count - before[key]; added > 0 {
			since[key] = added
		}
	}
	return since
}
