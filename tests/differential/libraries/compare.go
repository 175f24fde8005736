package main

import (
	"bufio"
	"fmt"
	"os"
)

// compare prints where two files of result lines differ.
func compare(out *bufio.Writer, expressions, upstream, celgate string) error {
	var files [3][]string
	for i, name := range []string{expressions, upstream, celgate} {
		lines, err := readLines(name)
		if err != nil {
			return err
		}
		files[i] = lines
	}
	if len(files[0]) != len(files[1]) || len(files[0]) != len(files[2]) {
		return fmt.Errorf("%d expressions, %d and %d results", len(files[0]), len(files[1]), len(files[2]))
	}
	differences := 0
	for i, expression := range files[0] {
		if files[1][i] == files[2][i] {
			continue
		}
		differences++
		fmt.Fprintf(out, "%s\n  upstream: %s\n  celgate:  %s\n", expression, files[1][i], files[2][i])
	}
	fmt.Fprintf(out, "%d expressions, %d differences\n", len(files[0]), differences)
	if differences > 0 {
		out.Flush()
		return fmt.Errorf("the engines differ")
	}
	return nil
}

func readLines(name string) ([]string, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var out []string
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		out = append(out, lines.Text())
	}
	return out, lines.Err()
}
