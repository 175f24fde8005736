package harness

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"
)

// record writes upstream's answers into the cases that expect nothing yet. What is expected already is never changed.
var record = flag.Bool("record", false, "write upstream's answer into requests of testdata/*.yaml that have no `expect`, for review")

// writeAnswers adds the answers to the requests of a case file.
func writeAnswers(path string, answers map[int]Expect) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return err
	}
	top := document.Content[0]
	requests := slices.IndexFunc(top.Content, func(n *yaml.Node) bool { return n.Value == "requests" })
	if requests < 0 {
		return errors.New("no requests")
	}
	for i, answer := range answers {
		request := top.Content[requests+1].Content[i]
		request.Style &^= yaml.FlowStyle
		request.Content = append(request.Content, text("expect"), answerNode(answer))
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(&document); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

func answerNode(e Expect) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	add := func(key string, value *yaml.Node) { n.Content = append(n.Content, text(key), value) }
	add("verdict", text(e.Verdict))
	if e.Code != 0 {
		add("code", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: fmt.Sprint(e.Code)})
	}
	if e.Reason != "" {
		add("reason", text(e.Reason))
	}
	if e.Message != "" {
		add("message", text(e.Message))
	}
	for key, texts := range map[string][]string{"warnings": e.Warnings, "failures": e.Failures} {
		if len(texts) > 0 {
			list := &yaml.Node{Kind: yaml.SequenceNode}
			for _, value := range texts {
				list.Content = append(list.Content, text(value))
			}
			add(key, list)
		}
	}
	if len(e.Annotations) > 0 {
		annotations := &yaml.Node{Kind: yaml.MappingNode}
		var keys []string
		for key := range e.Annotations {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			annotations.Content = append(annotations.Content, text(key), text(e.Annotations[key]))
		}
		add("annotations", annotations)
	}
	if len(n.Content) == 2 {
		n.Style = yaml.FlowStyle
	}
	return n
}

func text(value string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(value)
	if n.Style == yaml.LiteralStyle {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
