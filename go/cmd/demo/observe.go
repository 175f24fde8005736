package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// auditEvent is the part of an audit event that the demo looks at.
type auditEvent struct {
	AuditID     string            `json:"auditID"`
	Stage       string            `json:"stage"`
	Annotations map[string]string `json:"annotations"`
}

// annotations are the audit annotations that policies and webhooks made for a request. The log is written after the answer, so it is waited for.
func annotations(ctx context.Context, log, auditID string) (map[string]string, error) {
	deadline := time.Now().Add(5 * time.Second)
	for {
		found, ok, err := findEvent(log, auditID)
		if err != nil || ok {
			return found, err
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return nil, fmt.Errorf("no audit event %s in %s", auditID, log)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func findEvent(log, auditID string) (map[string]string, bool, error) {
	file, err := os.Open(log)
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event auditEvent
		if !strings.Contains(lines.Text(), auditID) || json.Unmarshal(lines.Bytes(), &event) != nil {
			continue
		}
		if event.AuditID != auditID || event.Stage != "ResponseComplete" {
			continue
		}
		var made map[string]string
		for key, value := range event.Annotations {
			if strings.HasPrefix(key, "authorization.k8s.io/") || strings.HasPrefix(key, "pod-security.kubernetes.io/") {
				continue
			}
			if made == nil {
				made = map[string]string{}
			}
			made[key] = value
		}
		return made, true, nil
	}
	return nil, false, lines.Err()
}

// metrics are the sums of the server's metrics that the demo compares before and after.
type metrics struct {
	// evaluated counts requests that the Rust core decided, and matched those for which it matched webhooks.
	evaluated, matched float64
	// admissionSeconds is the time spent in the plugin.
	admissionSeconds float64
	// compared counts answers of celgate's that were compared with upstream's, whatever came of it, and same those that were the same.
	compared, same float64
}

func (c *client) metrics(ctx context.Context) (metrics, error) {
	var m metrics
	res, err := c.do(ctx, "", "GET", c.host+"/metrics", nil)
	if err != nil {
		return m, err
	}
	for line := range strings.Lines(string(res.body)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if cut := strings.LastIndexByte(value, ' '); cut >= 0 {
			value = value[cut+1:]
		}
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		switch {
		case strings.HasPrefix(name, "celgate_requests_total"):
			m.evaluated += number
		case name == "celgate_webhook_matching_seconds_count":
			m.matched = number
		case strings.HasPrefix(name, "celgate_verify_requests_total"):
			m.compared += number
			if strings.Contains(name, `"same"`) {
				m.same += number
			}
		case strings.HasPrefix(name, "apiserver_admission_controller_admission_duration_seconds_sum") && strings.Contains(name, `name="ValidatingAdmissionPolicy"`):
			m.admissionSeconds += number
		}
	}
	return m, nil
}
