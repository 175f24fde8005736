package wire

import (
	"encoding/json"
	"slices"
	"sync/atomic"
)

// Projection is the parts of an object that anybody reads (docs/abi.md, "Projections"). A nil one is the whole object. It is safe for
// concurrent use.
type Projection struct {
	// nonempty says that a map or struct with entries must not look empty.
	nonempty bool
	// names are the entries that are read of a map or struct, in order; fields are what is read of each.
	names  []string
	fields []*Projection
	// listed says that elements of a list are read, as far as elements says; such a map is read whole.
	listed   bool
	elements *Projection

	// structs is what the projection leaves of each type of struct met so far.
	structs atomic.Pointer[[]projectedStruct]
}

type projectedStruct struct {
	node   *node
	fields []projectedField
}

type projectedField struct {
	// index is the field's in its node.
	index      int
	projection *Projection
}

// nothing leaves scalars, and of containers what they are.
var nothing = &Projection{}

// ParseProjection reads a projection as the core writes it.
func ParseProjection(data []byte) (*Projection, error) {
	var whole bool
	if json.Unmarshal(data, &whole) == nil && whole {
		return nil, nil
	}
	var parts struct {
		Nonempty bool                       `json:"nonempty"`
		Fields   map[string]json.RawMessage `json:"fields"`
		Elements json.RawMessage            `json:"elements"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return nil, err
	}
	p := &Projection{nonempty: parts.Nonempty, listed: parts.Elements != nil}
	for name := range parts.Fields {
		p.names = append(p.names, name)
	}
	slices.Sort(p.names)
	for _, name := range p.names {
		field, err := ParseProjection(parts.Fields[name])
		if err != nil {
			return nil, err
		}
		p.fields = append(p.fields, field)
	}
	if p.listed {
		var err error
		if p.elements, err = ParseProjection(parts.Elements); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// ParseProjections reads what is read of object and oldObject.
func ParseProjections(data []byte) (object, oldObject *Projection, err error) {
	var parts struct{ Object, OldObject json.RawMessage }
	if err := json.Unmarshal(data, &parts); err != nil {
		return nil, nil, err
	}
	if object, err = ParseProjection(parts.Object); err == nil {
		oldObject, err = ParseProjection(parts.OldObject)
	}
	return object, oldObject, err
}

// of gives the fields that are left of a struct, in order of their names.
func (p *Projection) of(n *node) []projectedField {
	for {
		known := p.structs.Load()
		if known != nil {
			for i := range *known {
				if (*known)[i].node == n {
					return (*known)[i].fields
				}
			}
		}
		made := projectedStruct{node: n}
		for i, name := range p.names {
			if index, found := slices.BinarySearch(n.names, name); found {
				made.fields = append(made.fields, projectedField{index, p.fields[i]})
			}
		}
		var all []projectedStruct
		if known != nil {
			all = slices.Clone(*known)
		}
		all = append(all, made)
		if p.structs.CompareAndSwap(known, &all) {
			return made.fields
		}
	}
}

// SetProjected is SetObject, but of maps, structs and lists it writes only what the projection takes.
func (e *Encoder) SetProjected(root int, obj any, projection *Projection) {
	e.child = projection
	e.SetObject(root, obj)
}

// projectedEntries writes the entries of a map that are read, given how to write one and how to find any.
func (e *Encoder) projectedEntries(p *Projection, write func(name string) bool, first func() (key string, found bool)) {
	written := false
	for i, name := range p.names {
		e.child = p.fields[i]
		written = write(name) || written
	}
	if written || !p.nonempty {
		return
	}
	if key, found := first(); found {
		e.cells = append(e.cells, e.stringCell(key), nullCell)
	}
}
