package tool

import (
	"context"
	"embed"

	"chela"
)

//go:embed *.md
var docs embed.FS

// pure returns a tool that depends on nothing but its arguments: it reads no
// files, uses no network and changes nothing. The error of answer is written
// for the model.
func pure[In any](name string, answer func(in In) (string, error)) chela.Tool {
	return New(name, Doc(docs, name), func(_ context.Context, call Call[In]) (chela.ToolResult, error) {
		text, err := answer(call.In)
		if err != nil {
			return Failed(err.Error()), nil
		}
		return Done(text), nil
	}, nil)
}

type echoInput struct {
	Message string `json:"message" jsonschema:"the text to return"`
}

// Echo returns the tool that returns its message.
func Echo() chela.Tool {
	return pure("echo", func(in echoInput) (string, error) { return in.Message, nil })
}
