package differential

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
)

// shape is what the generator knows of a value of type dyn: what the objects have there.
type shape struct {
	fields  map[string]*shape
	element *shape
	// scalars are the types that the value has without parts.
	scalars []*cel.Type
}

// objectShape is the shape of all objects together.
func objectShape(texts []string) (*shape, error) {
	merged := &shape{}
	for _, text := range texts {
		var content any
		if err := json.Unmarshal([]byte(text), &content); err != nil {
			return nil, err
		}
		merged.add(content)
	}
	return merged, nil
}

func (s *shape) add(value any) {
	switch value := value.(type) {
	case map[string]any:
		if s.fields == nil {
			s.fields = map[string]*shape{}
		}
		for _, key := range sortedKeys(value) {
			if s.fields[key] == nil {
				s.fields[key] = &shape{}
			}
			s.fields[key].add(value[key])
		}
	case []any:
		if s.element == nil {
			s.element = &shape{}
		}
		for _, element := range value {
			s.element.add(element)
		}
	case string:
		s.addScalar(cel.StringType)
	case bool:
		s.addScalar(cel.BoolType)
	case float64:
		if value == float64(int64(value)) {
			s.addScalar(cel.IntType)
		} else {
			s.addScalar(cel.DoubleType)
		}
	}
}

func (s *shape) addScalar(t *cel.Type) {
	if !slices.Contains(s.scalars, t) {
		s.scalars = append(s.scalars, t)
	}
}

func (s *shape) names() []string { return slices.Sorted(maps.Keys(s.fields)) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
