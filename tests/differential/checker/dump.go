package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// end closes the dump of one case.
const end = "."

func dump(in io.Reader, out io.Writer) error {
	cached := map[[2]bool]policyEnvironment{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	writer := bufio.NewWriter(out)
	for lines.Scan() {
		c, err := parseCase(lines.Text())
		if err != nil {
			return err
		}
		key := [2]bool{c.params, c.authorizer}
		env, ok := cached[key]
		if !ok || len(c.variables) > 0 {
			if env, err = newPolicyEnvironment(c.params, c.authorizer); err != nil {
				return err
			}
		}
		if len(c.variables) == 0 {
			cached[key] = env
		}
		for _, v := range c.variables {
			t := dumpExpression(writer, env, v.expression)
			env.declare(v.name, t)
		}
		dumpExpression(writer, env, c.expression)
		if err := confirm(env, c); err != nil {
			return fmt.Errorf("%q: %w", c.expression, err)
		}
		fmt.Fprintln(writer, end)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return writer.Flush()
}

// dumpExpression prints what cel-go makes of an expression and returns its type, nil if it does not compile.
func dumpExpression(out io.Writer, env policyEnvironment, expression string) (output *cel.Type) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintln(out, "panic")
		}
	}()
	parsed, issues := env.Parse(expression)
	if issues.Err() != nil {
		fmt.Fprintln(out, "syntax")
		return nil
	}
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		fmt.Fprintln(out, "error", escape(issues.String()))
		return nil
	}
	fmt.Fprintf(out, "ok %s | %s\n", checker.FormatCELType(checked.OutputType()), checked.OutputType())
	dumpAST(out, checked.NativeRep())
	return checked.OutputType()
}

func dumpAST(out io.Writer, a *ast.AST) {
	var lines []string
	add := func(id int64, kind, text string) {
		lines = append(lines, fmt.Sprintf("%08d %s %s", id, kind, text))
	}
	for id, t := range a.TypeMap() {
		add(id, "type", checker.FormatCELType(t))
	}
	for id, r := range a.ReferenceMap() {
		value := ""
		if r.Value != nil {
			value = fmt.Sprint(r.Value.Value())
		}
		add(id, "refers", escape(r.Name)+"|"+strings.Join(r.OverloadIDs, ",")+"|"+value)
	}
	ast.PostOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.IdentKind:
			add(e.ID(), "ident", escape(e.AsIdent()))
		case ast.CallKind:
			add(e.ID(), "call", fmt.Sprintf("%s %t", e.AsCall().FunctionName(), e.AsCall().IsMemberFunction()))
		case ast.StructKind:
			add(e.ID(), "struct", escape(e.AsStruct().TypeName()))
		}
	}))
	slices.Sort(lines)
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
}

func escape(text string) string {
	return strings.NewReplacer("\\", "\\\\", "\n", "\\n").Replace(text)
}

// confirm compiles the case with the plugin's own compiler and fails if this program's environment is not the same.
func confirm(env policyEnvironment, c testCase) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = nil // a validator's panic, printed above
		}
	}()
	if len(c.variables) == 0 {
		return nil
	}
	compiler, err := plugincel.NewCompositedCompiler(stored)
	if err != nil {
		return err
	}
	options := plugincel.OptionalVariableDeclarations{HasParams: c.params, HasAuthorizer: c.authorizer}
	for _, v := range c.variables {
		compiler.CompileAndStoreVariable(accessor(v), options, environment.StoredExpressions)
	}
	result := compiler.CompileCELExpression(accessor{"", c.expression}, options, environment.StoredExpressions)
	checked, issues := env.Compile(c.expression)
	switch {
	case issues.Err() != nil:
		if want := "compilation failed: " + issues.String(); result.Error == nil || result.Error.Detail != want {
			return fmt.Errorf("the plugin says %v, not %s", result.Error, want)
		}
	case result.Error != nil:
		if !strings.HasPrefix(result.Error.Detail, "program instantiation failed: ") {
			return fmt.Errorf("the plugin says %v", result.Error)
		}
	case !result.OutputType.IsExactType(checked.OutputType()):
		return fmt.Errorf("the plugin says %v, not %v", result.OutputType, checked.OutputType())
	}
	return nil
}

// accessor is a named expression of any type.
type accessor variable

func (a accessor) GetExpression() string    { return a.expression }
func (a accessor) GetName() string          { return a.name }
func (a accessor) ReturnTypes() []*cel.Type { return []*cel.Type{cel.AnyType} }
