package differential

import (
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// inOurOrder returns an activation with the same values, whose maps and structs are visited by key, as the core visits them: upstream's
// result over it is one that it could have given with luck.
func inOurOrder(activation map[string]any) map[string]any {
	made := make(map[string]any, len(activation))
	for name, value := range activation {
		if value, ok := value.(ref.Val); ok {
			made[name] = ordered(value)
			continue
		}
		made[name] = value
	}
	return made
}

func ordered(value ref.Val) ref.Val {
	switch value := value.(type) {
	case orderedMap, orderedList:
		return value
	case traits.Mapper:
		return orderedMap{value}
	case traits.Lister:
		return orderedList{value}
	}
	return value
}

// unordered is the value as it was; equality looks at Go types here and there.
func unordered(value ref.Val) ref.Val {
	switch value := value.(type) {
	case orderedMap:
		return value.Mapper
	case orderedList:
		return value.Lister
	}
	return value
}

type orderedMap struct{ traits.Mapper }

func (m orderedMap) Find(key ref.Val) (ref.Val, bool) {
	value, found := m.Mapper.Find(key)
	return ordered(value), found
}

func (m orderedMap) Get(key ref.Val) ref.Val     { return ordered(m.Mapper.Get(key)) }
func (m orderedMap) Equal(other ref.Val) ref.Val { return m.Mapper.Equal(unordered(other)) }

func (m orderedMap) Iterator() traits.Iterator {
	var keys []ref.Val
	for it := m.Mapper.Iterator(); it.HasNext() == types.True; {
		keys = append(keys, it.Next())
	}
	slices.SortFunc(keys, func(a, b ref.Val) int {
		comparer, ok := a.(traits.Comparer)
		if !ok {
			return 0
		}
		order, _ := comparer.Compare(b).(types.Int)
		return int(order)
	})
	return types.NewRefValList(types.DefaultTypeAdapter, keys).Iterator()
}

type orderedList struct{ traits.Lister }

func (l orderedList) Get(index ref.Val) ref.Val   { return ordered(l.Lister.Get(index)) }
func (l orderedList) Equal(other ref.Val) ref.Val { return l.Lister.Equal(unordered(other)) }

func (l orderedList) Iterator() traits.Iterator { return orderedIterator{l.Lister.Iterator()} }

type orderedIterator struct{ traits.Iterator }

func (it orderedIterator) Next() ref.Val { return ordered(it.Iterator.Next()) }
