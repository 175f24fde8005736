// Command expressions measures how long CEL expressions take in celgate, in cel-go as the apiserver runs it and without cost, in the
// `cel` crate and in the C++ runtime: one run, the same values, results compared, rounds in turns.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
)

type flags struct {
	out, filter, child, python, script string
	rounds                             int
	roundTime                          time.Duration
	cpp, redraw                        bool
}

func main() {
	var f flags
	flag.StringVar(&f.out, "out", "benchmarks/results", "directory for the results; empty writes none")
	flag.IntVar(&f.rounds, "rounds", 5, "interleaved rounds for each expression")
	flag.DurationVar(&f.roundTime, "round-time", 10*time.Millisecond, "how long a round aims to take")
	flag.StringVar(&f.filter, "filter", "", "regular expression: only expressions whose group/name matches")
	flag.StringVar(&f.child, "child", "target/release/examples/bench_expressions", "the program that evaluates with celgate and the cel crate")
	flag.BoolVar(&f.cpp, "cpp", false, "measure the C++ runtime too, through the Python package cel-expr-python")
	flag.StringVar(&f.python, "python", "python3", "the Python that has cel-expr-python")
	flag.StringVar(&f.script, "cpp-script", "benchmarks/expressions/cpp.py", "the Python program that evaluates with the C++ runtime")
	flag.BoolVar(&f.redraw, "redraw", false, "measure nothing: make the table again from expressions.json")
	flag.Parse()
	if err := run(f); err != nil {
		fmt.Fprintln(os.Stderr, "expressions:", err)
		os.Exit(1)
	}
}

func run(f flags) error {
	if f.redraw {
		return redrawn(f.out)
	}
	only, err := regexp.Compile(f.filter)
	if err != nil {
		return err
	}
	cases, err := allCases(only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "expressions")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	all := append(slices.Clone(cases), newCase("", "crossing", "true", nil))
	if err := writeCases(dir, all); err != nil {
		return err
	}
	engines, stop, err := startEngines(f, dir, all)
	if err != nil {
		return err
	}
	defer stop()
	r := newReport()
	r.CppVersion = f.cppVersion()
	for _, c := range cases {
		l, err := measure(engines, c, f.rounds, f.roundTime)
		if err != nil {
			return err
		}
		r.Lines = append(r.Lines, l)
		fmt.Printf("%-22s %-40s %s\n", l.Group, l.Name, l.brief())
	}
	fmt.Println()
	fmt.Print(r.summary())
	if f.out == "" {
		return nil
	}
	return r.write(f.out)
}

func allCases(only *regexp.Regexp) ([]*testCase, error) {
	bound, err := fixedRoots()
	if err != nil {
		return nil, err
	}
	all := synthetic(bound)
	policies, err := corpus(bound)
	if err != nil {
		fmt.Fprintln(os.Stderr, "expressions: synthetic expressions only:", err)
	}
	var chosen []*testCase
	for _, c := range append(all, policies...) {
		if only.MatchString(c.group + "/" + c.name) {
			chosen = append(chosen, c)
		}
	}
	return chosen, nil
}

// Names of engines in the results.
const (
	ours     = "celgate"
	celCrate = "cel crate"
	cpp      = "C++ runtime"
)

// startEngines starts all engines; the last of the cases is the one that takes no time of its own.
func startEngines(f flags, dir string, cases []*testCase) (engines []engine, stop func(), err error) {
	for _, e := range []*celGo{{cost: true}, {cost: true, mapped: true}, {}, {mapped: true}} {
		e.programs = map[*testCase]cel.Program{}
		engines = append(engines, e)
	}
	rust, err := startChild(cases, f.child, dir)
	if err != nil {
		return nil, nil, fmt.Errorf("start the child (make bench-expressions builds it): %w", err)
	}
	engines = append(engines, &remote{child: rust, called: ours, id: "celgate"}, &remote{child: rust, called: celCrate, id: "cel-crate"})
	if !f.cpp {
		return engines, rust.close, nil
	}
	if f.cppVersion() == "" {
		fmt.Fprintf(os.Stderr, "expressions: no C++ runtime: %s cannot import cel_expr_python (pip install cel-expr-python)\n", f.python)
		return engines, rust.close, nil
	}
	python, err := startChild(cases, f.python, f.script, dir)
	if err != nil {
		rust.close()
		return nil, nil, err
	}
	crossing := cases[len(cases)-1]
	return append(engines, &remote{child: python, called: cpp, id: "cpp", crossing: crossing}), func() { rust.close(); python.close() }, nil
}

// cppVersion is the version of the Python package, if it is wanted and there.
func (f flags) cppVersion() string {
	if !f.cpp {
		return ""
	}
	out, err := exec.Command(f.python, "-c", "import cel_expr_python.cel, importlib.metadata as m; print(m.version('cel-expr-python'))").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
