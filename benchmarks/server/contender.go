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
	"syscall"
	"time"

	"github.com/celgate/celgate/go/internal/testserver"
	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// contender is a server with a number of policies.
type contender struct {
	engine   string
	policies int
	server   *testserver.Server
	client   kubernetes.Interface
	clients  int
	rounds   []round
}

// round is one of a contender's turns.
type round struct {
	cpu, elapsed time.Duration
	latencies    []time.Duration
}

// startContender starts a server, waits until each of its policies is in force, and halts it.
func startContender(ctx context.Context, o testserver.Options, policies, clients int) (*contender, error) {
	server, err := testserver.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	c := &contender{engine: o.Engine, policies: policies, server: server, clients: clients}
	if err := c.prepare(ctx); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

func (c *contender) prepare(ctx context.Context) error {
	config, err := c.server.Config("")
	if err != nil {
		return err
	}
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	for i := range c.policies {
		if err := install(ctx, c.client, i); err != nil {
			return err
		}
	}
	if err := inForce(ctx, c.client, c.policies); err != nil {
		return err
	}
	if err := checked(ctx, c.client); err != nil {
		return err
	}
	// What a server does once after its start is over when its first turn comes.
	if _, err := c.send(ctx, warmUp); err != nil {
		return err
	}
	return c.signal(syscall.SIGSTOP)
}

const (
	// warmUp is how long a server is under load before it is halted for the first time.
	warmUp = 5 * time.Second
	// wakeUp is how long a server that was halted is under load before it is measured: its watches and connections begin anew.
	wakeUp = 500 * time.Millisecond
)

// round lets the server run, measures it, and halts it.
func (c *contender) round(ctx context.Context, duration time.Duration) error {
	if err := c.signal(syscall.SIGCONT); err != nil {
		return err
	}
	if _, err := c.send(ctx, wakeUp); err != nil {
		return err
	}
	before, err := cpuTime(c.server.PID())
	if err != nil {
		return err
	}
	began := time.Now()
	latencies, err := c.send(ctx, duration)
	if err != nil {
		return err
	}
	elapsed := time.Since(began)
	after, err := cpuTime(c.server.PID())
	if err != nil {
		return err
	}
	c.rounds = append(c.rounds, round{cpu: after - before, elapsed: elapsed, latencies: latencies})
	return c.signal(syscall.SIGSTOP)
}

func (c *contender) signal(s syscall.Signal) error { return syscall.Kill(c.server.PID(), s) }

// stop lets the server run to its end.
func (c *contender) stop() {
	_ = c.signal(syscall.SIGCONT)
	c.server.Stop()
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
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute+time.Duration(n)*time.Second/2)
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

// checked waits until the types of all policies are checked: the server does so once for each, one after the other.
func checked(ctx context.Context, client kubernetes.Interface) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for {
		policies, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicies().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		unchecked := func(p v1.ValidatingAdmissionPolicy) bool { return p.Status.ObservedGeneration < p.Generation }
		if !slices.ContainsFunc(policies.Items, unchecked) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the types of policies are not checked: %w", ctx.Err())
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// send sends requests from all clients for the given time and returns their latencies.
func (c *contender) send(ctx context.Context, duration time.Duration) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, duration+30*time.Second)
	defer cancel()
	deadline := time.Now().Add(duration)
	latencies := make([][]time.Duration, c.clients)
	errs := make([]error, c.clients)
	var group sync.WaitGroup
	for n := range c.clients {
		group.Go(func() {
			for i := 0; time.Now().Before(deadline); i++ {
				began := time.Now()
				if errs[n] = create(ctx, c.client, fmt.Sprintf("pod-%d-%d", n, i%64)); errs[n] != nil {
					return
				}
				latencies[n] = append(latencies[n], time.Since(began))
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
