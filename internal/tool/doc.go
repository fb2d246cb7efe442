// Package tool makes tools out of functions and checks what a model asks of
// them. The tools live in folders of their own: pure (echo, time, json, calc),
// file (the workspace), web (other machines), shell (programs in a sandbox),
// result (long results).
// What several of them need is in workspace, calc and patch; tooltest is the
// contract that every tool passes.
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
// # From the model's words to a run
//
// A [Set] holds the tools a model is offered. [Set.Check] takes a call's
// arguments as they came, mends slips that can be mended without loss ("3" for
// 3), and either returns the arguments to store, judge, approve and run, or an
// error that lists everything wrong with them in words the model can act on.
// What is approved is bound to those arguments by [Hash].
//
// Limits around a call are wrappers, func(chela.Tool) chela.Tool: [WithTimeout]
// and [WithRecover]. What a call put out is [Bounded] once hooks have seen it.
package tool
