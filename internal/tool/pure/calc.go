package pure

import (
	"context"
	_ "embed"
	"time"

	"chela"
	"chela/internal/tool"
)

//go:embed calc.md
var calcDoc string

// calcTime is far above the time that the largest accepted expression takes.
const calcTime = 2 * time.Second

type calcInput struct {
	Expression string `json:"expression" jsonschema:"the expression, such as (1 + 2) * 3"`
}

// Calc returns the tool that does arithmetic.
func Calc() chela.Tool {
	return tool.New(tool.Def[calcInput]{
		Name:    "calc",
		Doc:     calcDoc,
		Timeout: calcTime,
		Run: func(_ context.Context, call tool.Call[calcInput]) (chela.ToolResult, error) {
			res, err := Eval(call.In.Expression)
			switch {
			case err != nil:
				return tool.Failed("cannot calculate: " + err.Error()), nil
			case res.Ratio != "":
				return tool.Done(res.Text + "… (exactly " + res.Ratio + ")"), nil
			case !res.Exact:
				return tool.Done(res.Text + " (rounded)"), nil
			default:
				return tool.Done(res.Text), nil
			}
		},
	})
}
