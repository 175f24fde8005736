package core

import (
	"encoding/json"
	"testing"
)

func TestQuestionFields(t *testing.T) {
	var q Question
	if err := json.Unmarshal([]byte(`{"id":0,"kind":"param","params":3,"namespace":"a","name":"b"}`), &q); err != nil || q.Params != 3 || q.Namespace != "a" || q.Name != "b" {
		t.Errorf("%+v %v", q, err)
	}
}
