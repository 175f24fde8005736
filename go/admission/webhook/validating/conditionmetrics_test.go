package validating

import "testing"

// Upstream's vectors are found: without them the plugin works, but slower.
func TestConditionVectors(t *testing.T) {
	if conditionVectors() == nil {
		t.Error("upstream's metrics of match conditions are not found")
	}
}
