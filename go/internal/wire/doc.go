// Package wire writes the records in which objects, params, namespaces and request attributes cross from Go to the core.
// docs/record-format.md defines their layout.
//
// A record holds the values that CEL expressions see upstream, computed ahead of evaluation:
//
//   - A typed object becomes what k8s.io/apiserver/pkg/cel/common.SchemalessTypedToVal makes of it, with its lists, maps and structs
//     flagged as typed, because upstream treats their operands more strictly than those of plain values.
//   - An *unstructured.Unstructured becomes what cel-go's default type adapter makes of its content.
//   - A value that upstream answers with an error becomes an error cell with upstream's text.
//
// How it works: the first object of a Go type compiles a plan (plan.go) from structured-merge-diff's type cache, which is what
// upstream reads too. A plan is a tree of nodes with byte offsets. Encoding (walk.go) follows it over the object's memory with an
// explicit stack: the children of a container are consecutive cells, so a container found on the way is put off until its parent is
// complete. Values with their own conversion have it in scalars.go (quantities, times), json.go (raw JSON) and plan.go (all others,
// through upstream's own code on a copy).
//
// Objects are only read, never written: a Quantity's text is formatted here, because its String method stores the text in the object,
// which other goroutines may share. Encoding an object of a known type allocates nothing once the encoder's buffers are large enough;
// unknown conversions, raw CBOR and failed conversions do allocate.
//
// Known deviations: a Go map with keys that are not strings, which no API type has, is an error cell; upstream lets one count its
// entries but not read them. Nesting beyond maxDepth is an error cell.
package wire
