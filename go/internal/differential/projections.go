package differential

import (
	"strings"

	"github.com/celgate/celgate/go/internal/cabi/expression"
	"github.com/celgate/celgate/go/internal/wire"
)

// projections are what an expression reads of the objects.
type projections struct {
	object, oldObject *wire.Projection
	// all is set where nothing can be left out, and where no object is named.
	all bool
}

func projectionsOf(x *expression.Expression, source string) (projections, error) {
	text, err := x.Projections()
	if err != nil {
		return projections{}, err
	}
	if !strings.Contains(source, "bject") || text == `{"object":true,"oldObject":true}` {
		return projections{all: true}, nil
	}
	object, oldObject, err := wire.ParseProjections([]byte(text))
	return projections{object: object, oldObject: oldObject}, err
}

// encoded makes a record; it is valid until it is released.
func (in *input) encoded(p *projections) (record []byte, release func()) {
	encoder := wire.Get(len(variables))
	for root, value := range in.objects {
		switch root {
		case rootObject:
			encoder.SetProjected(root, value, p.object)
		case rootOldObject:
			encoder.SetProjected(root, value, p.oldObject)
		default:
			encoder.SetObject(root, value)
		}
	}
	for root, value := range in.plain {
		encoder.SetPlain(root, value)
	}
	return encoder.Bytes(), encoder.Put
}

// projected is the record of what an expression reads; it is valid until it is released.
func (in *input) projected(p *projections) (record []byte, release func()) {
	if p.all {
		return in.record, func() {}
	}
	return in.encoded(p)
}
