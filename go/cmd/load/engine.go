package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/celgate/celgate/go/internal/testserver"
	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// loadEngine measures one engine with each number of policies.
func loadEngine(ctx context.Context, o testserver.Options, counts []int, duration time.Duration, clients int) ([]run, error) {
	server, err := testserver.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	defer server.Stop()
	config, err := server.Config("")
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	var runs []run
	installed := 0
	for _, n := range counts {
		for ; installed < n; installed++ {
			if err := install(ctx, client, installed); err != nil {
				return nil, err
			}
		}
		if err := inForce(ctx, client, n); err != nil {
			return nil, err
		}
		if _, err := measure(ctx, client, duration/5, clients); err != nil { // warm-up
			return nil, err
		}
		before, err := cpuTime(server.PID())
		if err != nil {
			return nil, err
		}
		began := time.Now()
		latencies, err := measure(ctx, client, duration, clients)
		if err != nil {
			return nil, err
		}
		elapsed := time.Since(began)
		after, err := cpuTime(server.PID())
		if err != nil {
			return nil, err
		}
		slices.Sort(latencies)
		requests := len(latencies)
		r := run{
			Engine: o.Engine, Policies: n, Requests: requests, PerSecond: float64(requests) / elapsed.Seconds(),
			CPUMsPerRequest: (after - before).Seconds() * 1e3 / float64(requests),
			P50Ms:           latencies[requests/2].Seconds() * 1e3, P99Ms: latencies[requests*99/100].Seconds() * 1e3,
		}
		fmt.Printf("%-10s %9d %9d %12.1f %16.2f %9.2f %9.2f\n", r.Engine, r.Policies, r.Requests, r.PerSecond, r.CPUMsPerRequest, r.P50Ms, r.P99Ms)
		runs = append(runs, r)
	}
	return runs, nil
}

// install creates the i-th policy and its binding. Each checks something else of a Pod, and denies Pods named after it.
func install(ctx context.Context, client kubernetes.Interface, i int) error {
	name := fmt.Sprintf("load-%04d", i)
	policy := &v1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
				Operations: []v1.OperationType{v1.Create},
				Rule:       v1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}}}},
			Validations: []v1.Validation{{Expression: fmt.Sprintf(
				"object.metadata.name != '%s' && object.spec.containers.all(c, !c.image.endsWith(':latest-%d') && (!has(c.ports) || c.ports.all(p, !has(p.hostPort) || p.hostPort < 1000 + %d)))", name, i, i)}},
		},
	}
	if _, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{}); err != nil {
		return err
	}
	binding := &v1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: []v1.ValidationAction{v1.Deny}},
	}
	_, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{})
	return err
}

// inForce waits until each of the n policies denies the Pod that is named after it.
func inForce(ctx context.Context, client kubernetes.Interface, n int) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for i := 0; i < n; i++ {
		name := fmt.Sprintf("load-%04d", i)
		for {
			err := create(ctx, client, name)
			if apierrors.IsInvalid(err) {
				break
			}
			if err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("policy %s is not in force", name)
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	return nil
}

func create(ctx context.Context, client kubernetes.Interface, name string) error {
	yes, no := true, false
	var containers []corev1.Container
	for i := range 3 {
		containers = append(containers, corev1.Container{
			Name: fmt.Sprintf("c%d", i), Image: fmt.Sprintf("registry.example.com/app:%d", i), Command: []string{"/bin/server"}, Args: []string{"--listen=:8080"},
			Env:             []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}, {Name: "C", Value: "3"}},
			Ports:           []corev1.ContainerPort{{ContainerPort: int32(8080 + i)}},
			SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: &no, RunAsNonRoot: &yes, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
		})
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name, "owner": "me"}},
		Spec:       corev1.PodSpec{Containers: containers, AutomountServiceAccountToken: &no},
	}
	_, err := client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// measure sends requests from all clients for the given time and returns their latencies.
func measure(ctx context.Context, client kubernetes.Interface, duration time.Duration, clients int) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, duration+30*time.Second)
	defer cancel()
	deadline := time.Now().Add(duration)
	latencies := make([][]time.Duration, clients)
	errs := make([]error, clients)
	var group sync.WaitGroup
	for c := range clients {
		group.Go(func() {
			for i := 0; time.Now().Before(deadline); i++ {
				began := time.Now()
				if errs[c] = create(ctx, client, fmt.Sprintf("pod-%d-%d", c, i%64)); errs[c] != nil {
					return
				}
				latencies[c] = append(latencies[c], time.Since(began))
			}
		})
	}
	group.Wait()
	return slices.Concat(latencies...), errors.Join(errs...)
}

// cpuTime is the CPU time that a process has used (Linux).
func cpuTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The fields after the command, which is in parentheses: user and system time are the 12th and 13th, in ticks of 10 ms.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}
