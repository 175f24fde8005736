// Command eval compares celgate's evaluator with cel-go's in Kubernetes' environment: values, errors and cost.
//
//	eval list                        prints the expressions: corpus, cel-spec, cases.txt
//	eval values                      prints the variables, as trees that say how upstream holds each value
//	eval dump <expressions           prints what cel-go makes of each expression
//	eval compare list upstream ours  compares two such dumps
//
// An expression is one line of hexadecimal.
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	err := run(os.Args[1:], out)
	if flush := out.Flush(); err == nil {
		err = flush
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, out *bufio.Writer) error {
	switch {
	case len(args) == 1 && args[0] == "list":
		return list(out)
	case len(args) == 1 && args[0] == "values":
		return values(out)
	case len(args) == 1 && args[0] == "dump":
		return dump(os.Stdin, out)
	case len(args) == 4 && args[0] == "compare":
		return compare(out, args[1], args[2], args[3])
	}
	return fmt.Errorf("usage: eval list | values | dump | compare list upstream ours")
}
