// Command parser compares the parse trees of celgate's parser with those of cel-go.
//
//	parser list              prints all expressions, one a line, in hexadecimal
//	parser dump [-macros]    reads such lines and prints cel-go's AST of each as one line of JSON
//	parser compare A B C     compares cel-go's dump B and celgate's dump C of the expressions in A
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
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
	case len(args) >= 1 && args[0] == "dump":
		return dump(os.Stdin, os.Stdout, len(args) > 1 && args[1] == "-macros")
	case len(args) == 4 && args[0] == "compare":
		return compare(args[1], args[2], args[3])
	}
	return fmt.Errorf("usage: parser list | dump [-macros] | compare EXPRESSIONS CEL-GO CELGATE")
}

// lines reads all lines of a file.
func lines(name string) ([]string, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []string
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<30)
	for scanner.Scan() {
		all = append(all, scanner.Text())
	}
	return all, scanner.Err()
}

func decode(line string) (string, error) {
	text, err := hex.DecodeString(line)
	return string(text), err
}
