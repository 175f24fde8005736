package wire

import (
	"encoding/binary"
	"reflect"
	"testing"
)

func numbers(values ...uint32) []byte {
	var data []byte
	for _, value := range values {
		data = binary.LittleEndian.AppendUint32(data, value)
	}
	return data
}

func sampleReport() []byte {
	data := numbers(1, 3, 7, 2, 1, 1)
	data = appendText(appendText(data, ""), "compilation error: x")
	data = append(data, numbers(1, 3, 7, 4, 1, 2)...)
	data = appendText(appendText(data, "Forbidden"), "no")
	data = append(data, numbers(2, 3, 7)...)
	data = appendText(appendText(data, "k"), "v")
	data = append(data, numbers(3, 3, 7)...)
	data = appendText(appendText(data, "k2"), "bad")
	data = append(data, numbers(4, 5, NoBinding)...)
	data = appendText(data, "failed to configure policy: x")
	data = append(data, numbers(5, 6, 9, 0, 2, 1)...)
	return append(data, numbers(6, 8, 10)...)
}

func TestReport(t *testing.T) {
	want := []Entry{
		{Kind: EntryDecision, Hook: 3, Binding: 7, Expression: 2, Deny: true, Failed: true, Text: "compilation error: x"},
		{Kind: EntryDecision, Hook: 3, Binding: 7, Expression: 4, Deny: true, Reason: "Forbidden", Text: "no"},
		{Kind: EntryAnnotation, Hook: 3, Binding: 7, Key: "k", Text: "v"},
		{Kind: EntryAnnotationError, Hook: 3, Binding: 7, Key: "k2", Text: "bad"},
		{Kind: EntryConfigurationError, Hook: 5, Binding: NoBinding, Text: "failed to configure policy: x"},
		{Kind: EntryMatchConditions, Hook: 6, Binding: 9, Excluded: true, EvaluationErrors: 2, Observed: true},
		{Kind: EntryNamespaceError, Hook: 8, Binding: 10},
	}
	var got []Entry
	report := NewReport(sampleReport())
	for entry := (Entry{}); report.Next(&entry); {
		got = append(got, entry)
	}
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// Whatever is cut off, reading ends, and only a cut between entries can pass for a whole report.
func TestReportTruncated(t *testing.T) {
	whole := sampleReport()
	for length := range whole {
		report := NewReport(whole[:length])
		entries := 0
		for entry := (Entry{}); report.Next(&entry); {
			entries++
		}
		if report.Err() == nil && entries == 7 {
			t.Errorf("%d of %d bytes read as a whole report", length, len(whole))
		}
	}
}

func TestReportUnknown(t *testing.T) {
	for name, data := range map[string][]byte{
		"kind":       numbers(9, 0, 0),
		"action":     numbers(1, 0, 0, 0, 2, 1, 0, 0),
		"evaluation": numbers(1, 0, 0, 0, 1, 0, 0, 0),
		"outcome":    numbers(5, 0, 0, 3, 0, 0),
	} {
		report := NewReport(data)
		if entry := (Entry{}); report.Next(&entry) || report.Err() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestBatch(t *testing.T) {
	var batch Batch
	if got := batch.Bytes(); !reflect.DeepEqual(got, numbers(0)) {
		t.Errorf("empty batch: %v", got)
	}
	for range 2 {
		batch.Reset()
		batch.Put("ns", "a", []byte("record"))
		batch.Delete("", "b")
		want := numbers(2, 0)
		want = appendText(appendText(appendText(want, "ns"), "a"), "record")
		want = append(want, numbers(1)...)
		want = appendText(appendText(want, ""), "b")
		if got := batch.Bytes(); !reflect.DeepEqual(got, want) || batch.Len() != 2 {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestAnswers(t *testing.T) {
	var answers Answers
	if answers.Bytes() != nil {
		t.Error("no answers are not empty")
	}
	for range 2 {
		answers.Reset()
		answers.Add(4, Answered, []byte("{}"))
		answers.Add(5, NotFound, nil)
		want := appendText(numbers(2, 4, 0), "{}")
		want = append(want, numbers(5, 1, 0)...)
		if got := answers.Bytes(); !reflect.DeepEqual(got, want) || answers.Len() != 2 {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}
