package harness

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
)

const (
	aloneVariable = "CELGATE_UPSTREAM_ALONE"
	aloneStarted  = "started"
	// hangTime is how long upstream may think about one request before it counts as hanging, where it is known to hang.
	hangTime = 3 * time.Second
	// aloneTime is the same where it is known to end: longer than a busy machine takes under the race detector.
	aloneTime = 2 * time.Minute
	// aloneMemory is how many bytes upstream may map for one request.
	aloneMemory = 4 << 30
	// aloneStack is how many bytes a goroutine's stack may have: what recurses without end passes it sooner than Go's limit.
	aloneStack = 64 << 20
)

// upstreamAlone sends a case's request to upstream's plugin in a process of its own and says what became of it: "answers", "hangs", "dies".
// What is expected decides how long it waits.
func upstreamAlone(t *testing.T, path string, index int, expected string) string {
	t.Helper()
	limit := aloneTime
	if expected == "hangs" {
		limit = hangTime
	}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(executable)
	command.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", aloneVariable, index, path))
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	output := bufio.NewReader(stdout)
	if line, err := output.ReadString('\n'); err != nil || strings.TrimSpace(line) != aloneStarted {
		_ = command.Process.Kill()
		t.Fatalf("the process did not start: %q, %v, %v", line, err, command.Wait())
	}
	ended := make(chan error, 1)
	go func() {
		_, _ = io.Copy(io.Discard, output)
		ended <- command.Wait()
	}()
	select {
	case err := <-ended:
		if err != nil {
			return "dies"
		}
		return "answers"
	case <-time.After(limit):
		_ = command.Process.Kill()
		<-ended
		return "hangs"
	}
}

// runAlone is what the other process does.
func runAlone(what string) error {
	number, path, _ := strings.Cut(what, " ")
	index, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	c, err := Load(path)
	if err != nil {
		return err
	}
	world, err := c.World()
	if err != nil {
		return err
	}
	plugin, err := upstream.NewPlugin(nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cluster, err := Start(ctx, plugin, world)
	if err != nil {
		return err
	}
	// Only a plugin that is ready answers.
	cluster.Do(ctx, &Request{Operation: admission.Create, Kind: schema.GroupVersionKind{Version: "v1", Kind: "Nothing"}})
	if err := limitMemory(); err != nil {
		return err
	}
	debug.SetMaxStack(aloneStack)
	request, err := c.Requests[index].Request()
	if err != nil {
		return err
	}
	fmt.Println(aloneStarted)
	fmt.Println(cluster.Do(ctx, request))
	return nil
}

// limitMemory limits what the process may map further.
func limitMemory() error {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	pages, _, _ := strings.Cut(string(statm), " ")
	mapped, err := strconv.ParseUint(pages, 10, 64)
	if err != nil {
		return err
	}
	limit := mapped*uint64(os.Getpagesize()) + aloneMemory
	return syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: limit, Max: limit})
}
