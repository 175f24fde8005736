package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
)

// shown is how many differences are printed.
const shown = 20

// compare prints how two dumps of the same cases differ; any difference is an error.
func compare(casesPath, upstreamPath, celgatePath string) error {
	cases, err := readLines(casesPath)
	if err != nil {
		return err
	}
	upstream, err := readBlocks(upstreamPath)
	if err != nil {
		return err
	}
	celgate, err := readBlocks(celgatePath)
	if err != nil {
		return err
	}
	if len(upstream) != len(cases) || len(celgate) != len(cases) {
		return fmt.Errorf("%d cases, %d results of cel-go, %d of celgate", len(cases), len(upstream), len(celgate))
	}
	verdicts := map[string]int{}
	differences := 0
	for i, line := range cases {
		want, got := upstream[i], celgate[i]
		verdict := "ok"
		if last := lastVerdict(want); last != "" {
			verdict = last
		}
		verdicts[verdict]++
		if slices.Equal(want, got) || verdict == "panic" {
			continue
		}
		if differences++; differences <= shown {
			printDifference(line, want, got)
		}
	}
	fmt.Printf("%d cases:", len(cases))
	for _, verdict := range []string{"ok", "error", "syntax", "panic"} {
		fmt.Printf(" %d %s,", verdicts[verdict], verdict)
	}
	fmt.Printf(" %d differences\n", differences)
	if differences > 0 {
		return fmt.Errorf("celgate differs from cel-go")
	}
	return nil
}

// lastVerdict is the verdict on the expression itself, after those on the variables.
func lastVerdict(block []string) string {
	verdict := ""
	for _, line := range block {
		word, _, _ := strings.Cut(line, " ")
		if word == "ok" || word == "error" || word == "syntax" || word == "panic" {
			verdict = word
		}
	}
	return verdict
}

func printDifference(line string, want, got []string) {
	if c, err := parseCase(line); err == nil {
		fmt.Printf("--- %q\n", c.expression)
		for _, v := range c.variables {
			fmt.Printf("    %s := %q\n", v.name, v.expression)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			fmt.Printf("  cel-go:  %s\n", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			fmt.Printf("  celgate: %s\n", line)
		}
	}
}

func readBlocks(path string) ([][]string, error) {
	lines, err := readLines(path)
	if err != nil {
		return nil, err
	}
	var blocks [][]string
	start := 0
	for i, line := range lines {
		if line == end {
			blocks = append(blocks, lines[start:i])
			start = i + 1
		}
	}
	return blocks, nil
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
