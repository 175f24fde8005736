package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// answer is what an evaluator makes of a case.
type answer struct {
	// runs is false if the expression cannot be run, for the reason given.
	runs   bool
	reason string
	value  string
	// costs are those that were seen: the order of Go's maps is random.
	costs []uint64
}

// engine evaluates cases.
type engine interface {
	name() string
	show(c *testCase) (answer, error)
	run(c *testCase, count int) error
}

// child is a process that evaluates: each command is a line, answered by a line.
type child struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	cases   map[*testCase]int
}

func startChild(cases []*testCase, name string, args ...string) (*child, error) {
	c := &child{command: exec.Command(name, args...), cases: map[*testCase]int{}}
	for i, one := range cases {
		c.cases[one] = i
	}
	c.command.Stderr = os.Stderr
	var err error
	if c.in, err = c.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	return c, c.command.Start()
}

func (c *child) ask(command string) (string, error) {
	if _, err := fmt.Fprintln(c.in, command); err != nil {
		return "", err
	}
	line, err := c.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s: %q has no answer: %w", filepath.Base(c.command.Path), command, err)
	}
	return strings.TrimSuffix(line, "\n"), nil
}

func (c *child) close() {
	c.in.Close()
	_ = c.command.Wait()
}

// remote is an engine of a child.
type remote struct {
	*child
	called string
	// id is the child's own name for it.
	id string
	// crossing is an expression that takes no time of its own, whose time is taken off; nil where reaching the engine takes none.
	crossing *testCase
}

func (r *remote) name() string { return r.called }

func (r *remote) show(c *testCase) (answer, error) {
	line, err := r.ask(fmt.Sprintf("show %s %d", r.id, r.cases[c]))
	if err != nil {
		return answer{}, err
	}
	cost, value, _ := strings.Cut(line, "\t")
	if cost == "-" {
		return answer{reason: value}, nil
	}
	n, err := strconv.ParseUint(cost, 10, 64)
	value, reason, _ := strings.Cut(value, "\t")
	return answer{runs: true, costs: []uint64{n}, value: value, reason: reason}, err
}

func (r *remote) run(c *testCase, count int) error {
	_, err := r.ask(fmt.Sprintf("run %s %d %d", r.id, r.cases[c], count))
	return err
}

// writeCases writes what children read: cases.json and record.bin.
func writeCases(dir string, cases []*testCase) error {
	type jsonCase struct {
		Expression string   `json:"expression"`
		Names      []string `json:"names"`
		Roots      []int    `json:"roots"`
	}
	var input struct {
		Values []any      `json:"values"`
		Cases  []jsonCase `json:"cases"`
	}
	var roots []root
	known := map[string]int{}
	for _, c := range cases {
		one := jsonCase{Expression: c.expression, Names: append([]string{}, c.names...), Roots: []int{}}
		for i, name := range c.names {
			key, err := json.Marshal([]any{name, c.roots[i].plain})
			if err != nil {
				return err
			}
			if _, ok := known[string(key)]; !ok {
				known[string(key)] = len(roots)
				roots = append(roots, c.roots[i])
				input.Values = append(input.Values, c.roots[i].plain)
			}
			one.Roots = append(one.Roots, known[string(key)])
		}
		input.Cases = append(input.Cases, one)
	}
	content, err := json.Marshal(input)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "cases.json"), content, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "record.bin"), encode(roots), 0o644)
}
