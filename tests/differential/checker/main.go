// Command checker compares celgate's type checker with cel-go's in Kubernetes' policy environment.
//
//	checker list                             prints the cases of the policy corpus and of cases.txt
//	checker dump <cases                     prints what cel-go makes of each case
//	checker compare cases upstream celgate   compares two such dumps
//
// A case is one line: flags, an expression and the variables of its policy (`name=expression`), with expressions in
// hexadecimal. The flags say whether there are params (p) and an authorizer (a).
package main

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "list":
		return list(os.Stdout)
	case len(args) == 1 && args[0] == "dump":
		return dump(os.Stdin, os.Stdout)
	case len(args) == 4 && args[0] == "compare":
		return compare(args[1], args[2], args[3])
	}
	return fmt.Errorf("usage: checker list | dump | compare cases upstream celgate")
}

// testCase is one expression with the variables that it may use.
type testCase struct {
	params, authorizer bool
	expression         string
	variables          []variable
}

type variable struct{ name, expression string }

func (c testCase) String() string {
	flags := "-"
	if c.params {
		flags += "p"
	}
	if c.authorizer {
		flags += "a"
	}
	line := flags + " " + hex.EncodeToString([]byte(c.expression))
	for _, v := range c.variables {
		line += " " + v.name + "=" + hex.EncodeToString([]byte(v.expression))
	}
	return line
}

func parseCase(line string) (testCase, error) {
	fields := strings.Split(line, " ")
	if len(fields) < 2 {
		return testCase{}, fmt.Errorf("not a case: %q", line)
	}
	expression, err := hex.DecodeString(fields[1])
	if err != nil {
		return testCase{}, err
	}
	c := testCase{
		params:     strings.Contains(fields[0], "p"),
		authorizer: strings.Contains(fields[0], "a"),
		expression: string(expression),
	}
	for _, field := range fields[2:] {
		name, text, _ := strings.Cut(field, "=")
		expression, err := hex.DecodeString(text)
		if err != nil {
			return testCase{}, err
		}
		c.variables = append(c.variables, variable{name, string(expression)})
	}
	return c, nil
}
