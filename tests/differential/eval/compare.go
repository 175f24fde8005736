package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// compare prints every difference between two dumps. Expressions that do not compile on one side only are the type
// checker's to compare; they are counted.
func compare(out io.Writer, listPath, upstreamPath, oursPath string) error {
	var files [3][]string
	for i, path := range []string{listPath, upstreamPath, oursPath} {
		lines, err := readLines(path)
		if err != nil {
			return err
		}
		files[i] = lines
	}
	if len(files[0]) != len(files[1]) || len(files[0]) != len(files[2]) {
		return fmt.Errorf("%d expressions, %d and %d results", len(files[0]), len(files[1]), len(files[2]))
	}
	compared, uncompiled, different, varying, known := 0, 0, 0, 0, 0
	for i, line := range files[0] {
		upstream, ours := files[1][i], files[2][i]
		if strings.HasPrefix(upstream, "compile") || strings.HasPrefix(ours, "compile") {
			if strings.HasPrefix(ours, "compile") && !strings.HasPrefix(upstream, "compile") {
				uncompiled++
			}
			continue
		}
		expression, err := hex.DecodeString(line)
		if err != nil {
			return err
		}
		upstream, ours = withoutGoTypes(upstream), withoutGoTypes(ours)
		compared++
		if alternatives := strings.Split(upstream, alternative); len(alternatives) > 1 {
			if !slices.Contains(alternatives, ours) {
				varying++
			}
			continue
		}
		if upstream != ours && sameButForOrder(upstream, ours) {
			varying++
			continue
		}
		if upstream != ours && knownMessage(upstream, ours) {
			known++
			continue
		}
		if upstream != ours {
			different++
			fmt.Fprintf(out, "%s\n  upstream %s\n  ours     %s\n", expression, upstream, ours)
		}
	}
	fmt.Fprintf(out, "%d compared, %d different; %d vary upstream and ours was not among them; "+
		"%d compile only upstream; %d are known\n", compared, different, varying, uncompiled, known)
	if different > 0 {
		return errors.New("the evaluators differ")
	}
	return nil
}

// sameButForOrder says whether two values have the same parts and cost, in an order that Go's maps make random.
func sameButForOrder(a, b string) bool {
	parts := func(line string) []string {
		parts := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("[]{}, ", r) })
		slices.Sort(parts)
		return parts
	}
	return strings.HasPrefix(a, "value") && slices.Equal(parts(a), parts(b))
}

func readLines(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var lines []string
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<26)
	for scanner.Scan() {
		lines = append(lines, scanner.Text())
	}
	return lines, scanner.Err()
}
