package tool

import (
	"context"
	_ "embed"

	"chela"
)

//go:embed echo.md
var echoDoc string

type echoInput struct {
	Message string `json:"message" jsonschema:"the text to return"`
}

// Echo returns the tool that says back what it is told.
func Echo() chela.Tool {
	return New(Def[echoInput]{
		Name: "echo",
		Doc:  echoDoc,
		Run: func(_ context.Context, call Call[echoInput]) (chela.ToolResult, error) {
			return Done(call.In.Message), nil
		},
	})
}
