package differential

import (
	celast "github.com/google/cel-go/common/ast"
)

// macros are the macros that an expression uses.
func (e *Engines) macros(source string) map[string]bool {
	used := map[string]bool{}
	ast, issues := e.tracing.Parse(source)
	if issues.Err() != nil {
		return used
	}
	for _, call := range ast.NativeRep().SourceInfo().MacroCalls() {
		if call.Kind() == celast.CallKind {
			used[macroName(call.AsCall().FunctionName(), len(call.AsCall().Args()))] = true
		}
	}
	return used
}
