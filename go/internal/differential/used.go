package differential

import (
	celast "github.com/google/cel-go/common/ast"
)

// macroCalls are the calls of macros in an expression by their ids, nil if it does not parse.
func (e *Engines) macroCalls(source string) map[int64]celast.Expr {
	ast, issues := e.tracing.Parse(source)
	if issues.Err() != nil {
		return nil
	}
	return ast.NativeRep().SourceInfo().MacroCalls()
}

// macrosOf are the macros that are called.
func macrosOf(calls map[int64]celast.Expr) map[string]bool {
	used := map[string]bool{}
	for _, call := range calls {
		if call.Kind() == celast.CallKind {
			used[macroOf(call)] = true
		}
	}
	return used
}

// macroOf is the macro that a call is one of.
func macroOf(call celast.Expr) string {
	return macroName(call.AsCall().FunctionName(), len(call.AsCall().Args()))
}
