// Package tool defines tools as typed functions and validates the calls that
// models make. The tools live in folders of their own: pure (echo, time, json,
// calc), file (the workspace), web (other machines), shell (programs in a
// sandbox), result (long results). Code shared by several of them is in
// workspace, calc and patch; tooltest is the contract test that every tool
// passes.
//
// A tool is written as a struct of inputs and a function:
//
//	type echoInput struct {
//		Message string `json:"message" jsonschema:"the text to return"`
//	}
//
//	tool.New(tool.Def[echoInput]{
//		Name: "echo",
//		Doc:  echoDoc, // the embedded echo.md: what the model reads
//		Run:  func(ctx context.Context, call tool.Call[echoInput]) (chela.ToolResult, error) { … },
//	})
//
// # From a model's call to its execution
//
// A [Set] holds the tools offered to a model. [Set.Check] takes the arguments
// of a call as the model wrote them, repairs slips that can be repaired without
// loss ("3" for 3), and returns either the arguments to store, judge, approve
// and run, or an error that lists every problem in words the model can act on.
// An approval is bound to those arguments by [Hash].
//
// Limits around a call are middleware, func(chela.Tool) chela.Tool:
// [WithTimeout] and [WithRecover]. The output of a call is [Bounded] after the
// hooks have run.
package tool
