// Command libraries evaluates expressions as kube-apiserver does and prints value, error and cost, one line each.
//
//	libraries eval      < expressions > results
//	libraries generate N SEED         prints N random expressions
//	libraries printable               prints the code points that Go prints as they are
//	libraries compare EXPRESSIONS A B prints differing lines and counts; exit status 1 if any differ
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	switch {
	case len(args) == 1 && args[0] == "eval":
		return evaluateAll(os.Stdin, out)
	case len(args) == 3 && args[0] == "generate":
		count, err := strconv.Atoi(args[1])
		if err != nil {
			return err
		}
		seed, err := strconv.ParseUint(args[2], 10, 64)
		if err != nil {
			return err
		}
		generate(out, count, seed)
		return nil
	case len(args) == 1 && args[0] == "printable":
		printable(out)
		return nil
	case len(args) == 4 && args[0] == "compare":
		return compare(out, args[1], args[2], args[3])
	}
	return fmt.Errorf("usage: libraries eval | generate N SEED | printable | compare EXPRESSIONS A B")
}

// printable prints the ranges of code points from U+0080 up for which strconv.IsPrint holds.
func printable(out *bufio.Writer) {
	start := rune(-1)
	for r := rune(0x80); r <= 0x110000; r++ {
		prints := strconv.IsPrint(r)
		if prints && start < 0 {
			start = r
		}
		if !prints && start >= 0 {
			fmt.Fprintf(out, "%x %x\n", start, r-1)
			start = -1
		}
	}
}
