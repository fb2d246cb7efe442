// Package pure holds the tools that depend on nothing but their arguments:
// echo, time, json and calc. They read no files, use no network and change
// nothing.
package pure

import (
	"context"
	_ "embed"

	"chela"
	"chela/internal/tool"
)

//go:embed echo.md
var echoDoc string

type echoInput struct {
	Message string `json:"message" jsonschema:"the text to return"`
}

// Echo returns the tool that returns its message.
func Echo() chela.Tool {
	return tool.New(tool.Def[echoInput]{
		Name: "echo",
		Doc:  echoDoc,
		Run: func(_ context.Context, call tool.Call[echoInput]) (chela.ToolResult, error) {
			return tool.Done(call.In.Message), nil
		},
	})
}
