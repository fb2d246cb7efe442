// Package message holds the tool that sends a text elsewhere than to whoever is
// answered: message. Who delivers it is handed in.
package message

import (
	"context"
	_ "embed"
	"strings"

	"chela"
	"chela/internal/tool"
)

//go:embed message.md
var doc string

// maxText is how much one message may have, in bytes; channels cut it as they need.
const maxText = 20_000

// An Order is a text that is to be sent. The call names it: the same one is sent
// once.
type Order struct {
	Channel string
	To      string // empty for where the owner was last seen there
	Text    string
	Call    chela.ToolCall
}

// A SendFunc takes an order over, so that it is sent whatever happens, and returns
// where to. It is NotFound where there is no such channel or place.
type SendFunc func(ctx context.Context, o Order) (to string, err error)

type input struct {
	Channel string `json:"channel" jsonschema:"which channel"`
	To      string `json:"to,omitempty" jsonschema:"which chat or person there"`
	Text    string `json:"text" jsonschema:"what to send"`
}

// New returns the tool.
func New(send SendFunc) chela.Tool {
	return tool.New(tool.Def[input]{
		Name: "message",
		Doc:  doc,
		Judge: func(in input) chela.Judgement {
			place := strings.TrimSuffix(in.Channel+":"+in.To, ":")
			return chela.Judgement{
				Effect: chela.EffectSend, Resume: chela.ResumeRepeat, Preview: "to " + place + ":\n" + in.Text, Subjects: []string{place},
			}
		},
		Run: func(ctx context.Context, call tool.Call[input]) (chela.ToolResult, error) {
			in := call.In
			switch {
			case strings.TrimSpace(in.Text) == "":
				return tool.Failed("there is no text"), nil
			case len(in.Text) > maxText:
				return tool.Failed("the text is too long for a message; keep it in a file and tell where"), nil
			}
			to, err := send(ctx, Order{Channel: in.Channel, To: in.To, Text: in.Text, Call: call.ToolCall})
			return tool.Outcome("it will be sent to "+to, tool.OrLater(err))
		},
	})
}
