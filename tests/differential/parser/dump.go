package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"sort"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
)

// environment has the parser options and macros of Kubernetes' environments (apiserver pkg/cel/environment/base.go).
func environment(macroCalls bool) (*cel.Env, error) {
	options := []cel.EnvOption{cel.OptionalTypes(), ext.TwoVarComprehensions(), ext.Lists(ext.ListsVersion(3))}
	if macroCalls {
		options = append(options, cel.EnableMacroCallTracking())
	}
	return cel.NewEnv(options...)
}

func dump(in io.Reader, out io.Writer, macroCalls bool) error {
	env, err := environment(macroCalls)
	if err != nil {
		return err
	}
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, 1<<30)
	writer := bufio.NewWriter(out)
	for scanner.Scan() {
		text, err := decode(scanner.Text())
		if err != nil {
			return err
		}
		var json strings.Builder
		parsed, issues := env.Parse(text)
		if issues.Err() != nil {
			writeIssues(&json, issues)
		} else {
			writeAST(&json, parsed.NativeRep())
		}
		fmt.Fprintln(writer, json.String())
	}
	if err := scanner.Err(); err != nil {
		return err
	}
	return writer.Flush()
}

func writeAST(out *strings.Builder, parsed *ast.AST) {
	info := parsed.SourceInfo()
	out.WriteString(`{"expr":`)
	writeExpr(out, parsed.Expr())
	out.WriteString(`,"offsets":[`)
	for i, id := range sortedKeys(info.OffsetRanges()) {
		comma(out, i)
		offset, _ := info.GetOffsetRange(id)
		location := info.GetStartLocation(id)
		fmt.Fprintf(out, "[%d,%d,%d,%d,%d]", id, offset.Start, offset.Stop, location.Line(), location.Column())
	}
	out.WriteString(`],"macros":[`)
	for i, id := range sortedKeys(info.MacroCalls()) {
		comma(out, i)
		fmt.Fprintf(out, "[%d,", id)
		call, _ := info.GetMacroCall(id)
		writeExpr(out, call)
		out.WriteByte(']')
	}
	out.WriteString(`],"lines":`)
	writeNumbers(out, info.LineOffsets())
	out.WriteByte('}')
}

func writeIssues(out *strings.Builder, issues *cel.Issues) {
	text := issues.String() // sorts the errors
	out.WriteString(`{"errors":[`)
	for i, err := range issues.Errors() {
		comma(out, i)
		fmt.Fprintf(out, "[%d,%d,", err.Location.Line(), err.Location.Column())
		writeString(out, err.Message)
		out.WriteByte(']')
	}
	out.WriteString(`],"text":`)
	writeString(out, text)
	out.WriteByte('}')
}

func writeExpr(out *strings.Builder, expr ast.Expr) {
	fmt.Fprintf(out, "[%d,", expr.ID())
	switch expr.Kind() {
	case ast.LiteralKind:
		writeLiteral(out, expr)
	case ast.IdentKind:
		out.WriteString(`"ident",`)
		writeString(out, expr.AsIdent())
	case ast.SelectKind:
		selection := expr.AsSelect()
		kind := `"select",`
		if selection.IsTestOnly() {
			kind = `"has",`
		}
		out.WriteString(kind)
		writeExpr(out, selection.Operand())
		out.WriteByte(',')
		writeString(out, selection.FieldName())
	case ast.CallKind:
		writeCall(out, expr.AsCall())
	case ast.ListKind:
		out.WriteString(`"list",`)
		writeAll(out, expr.AsList().Elements())
		out.WriteByte(',')
		writeNumbers(out, expr.AsList().OptionalIndices())
	case ast.MapKind:
		writeMap(out, expr.AsMap())
	case ast.StructKind:
		writeStruct(out, expr.AsStruct())
	case ast.ComprehensionKind:
		writeFold(out, expr.AsComprehension())
	default:
		out.WriteString(`"unspecified"`)
	}
	out.WriteByte(']')
}

func writeCall(out *strings.Builder, call ast.CallExpr) {
	out.WriteString(`"call",`)
	writeString(out, call.FunctionName())
	out.WriteByte(',')
	if call.IsMemberFunction() {
		writeExpr(out, call.Target())
	} else {
		out.WriteString("null")
	}
	out.WriteByte(',')
	writeAll(out, call.Args())
}

func writeMap(out *strings.Builder, m ast.MapExpr) {
	out.WriteString(`"map",[`)
	for i, item := range m.Entries() {
		comma(out, i)
		entry := item.AsMapEntry()
		fmt.Fprintf(out, "[%d,", item.ID())
		writeExpr(out, entry.Key())
		out.WriteByte(',')
		writeExpr(out, entry.Value())
		fmt.Fprintf(out, ",%t]", entry.IsOptional())
	}
	out.WriteByte(']')
}

func writeStruct(out *strings.Builder, s ast.StructExpr) {
	out.WriteString(`"struct",`)
	writeString(out, s.TypeName())
	out.WriteString(",[")
	for i, item := range s.Fields() {
		comma(out, i)
		field := item.AsStructField()
		fmt.Fprintf(out, "[%d,", item.ID())
		writeString(out, field.Name())
		out.WriteByte(',')
		writeExpr(out, field.Value())
		fmt.Fprintf(out, ",%t]", field.IsOptional())
	}
	out.WriteByte(']')
}

func writeFold(out *strings.Builder, fold ast.ComprehensionExpr) {
	out.WriteString(`"fold"`)
	for _, name := range []string{fold.IterVar(), fold.IterVar2(), fold.AccuVar()} {
		out.WriteByte(',')
		writeString(out, name)
	}
	for _, part := range []ast.Expr{fold.IterRange(), fold.AccuInit(), fold.LoopCondition(), fold.LoopStep(), fold.Result()} {
		out.WriteByte(',')
		writeExpr(out, part)
	}
}

func writeLiteral(out *strings.Builder, expr ast.Expr) {
	switch value := expr.AsLiteral().(type) {
	case types.Bool:
		fmt.Fprintf(out, `"bool",%t`, bool(value))
	case types.Int:
		fmt.Fprintf(out, `"int",%d`, int64(value))
	case types.Uint:
		fmt.Fprintf(out, `"uint",%d`, uint64(value))
	case types.Double:
		fmt.Fprintf(out, `"double","%016x"`, math.Float64bits(float64(value)))
	case types.String:
		out.WriteString(`"string",`)
		writeString(out, string(value))
	case types.Bytes:
		fmt.Fprintf(out, `"bytes","%s"`, hex.EncodeToString([]byte(value)))
	default:
		out.WriteString(`"null"`)
	}
}

func writeAll(out *strings.Builder, exprs []ast.Expr) {
	out.WriteByte('[')
	for i, expr := range exprs {
		comma(out, i)
		writeExpr(out, expr)
	}
	out.WriteByte(']')
}

func writeNumbers(out *strings.Builder, numbers []int32) {
	out.WriteByte('[')
	for i, number := range numbers {
		if i > 0 {
			out.WriteString(", ")
		}
		fmt.Fprintf(out, "%d", number)
	}
	out.WriteByte(']')
}

func writeString(out *strings.Builder, text string) {
	out.WriteByte('"')
	for _, char := range text {
		switch {
		case char == '"' || char == '\\':
			out.WriteByte('\\')
			out.WriteRune(char)
		case char <= ' ' || char == 0x7f:
			fmt.Fprintf(out, `\u%04x`, char)
		default:
			out.WriteRune(char)
		}
	}
	out.WriteByte('"')
}

func comma(out *strings.Builder, index int) {
	if index > 0 {
		out.WriteByte(',')
	}
}

func sortedKeys[V any](m map[int64]V) []int64 {
	keys := make([]int64, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	return keys
}
