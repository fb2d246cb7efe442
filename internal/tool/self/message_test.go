package self_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"chela"
	"chela/internal/tool/self"
	"chela/internal/tool/tooltest"
)

func send(_ context.Context, o self.MessageOrder) (string, error) {
	switch o.Channel {
	case "terminal":
		return "the terminal", nil
	case "broken":
		return "", chela.E(chela.Unavailable, "the store is closed")
	}
	return "", chela.E(chela.NotFound, fmt.Sprintf("there is no channel %.40q", o.Channel)).WithHint("there is terminal")
}

func TestContract(t *testing.T) {
	t.Parallel()
	tooltest.Check(t, self.Message(send))
}

func TestMessage(t *testing.T) {
	t.Parallel()
	tl := self.Message(send)
	for args, want := range map[string]string{
		`{"channel": "terminal", "text": "hi"}`:                                  "it will be sent to the terminal",
		`{"channel": "terminal", "text": " "}`:                                   "!there is no text",
		`{"channel": "pigeon", "text": "hi"}`:                                    "!there is no channel \"pigeon\"; there is terminal",
		`{"channel": "broken", "text": "hi"}`:                                    "error",
		`{"channel": "terminal", "text": "` + strings.Repeat("x", 20_001) + `"}`: "!too long",
	} {
		got, err := tl.Run(t.Context(), chela.ToolCall{ID: "call_1", Args: json.RawMessage(args)})
		if (err != nil) != (want == "error") {
			t.Errorf("%.60s: %v", args, err)
			continue
		}
		text, failed := strings.CutPrefix(want, "!")
		if err == nil && (got.Failed != failed || !strings.Contains(got.Text, text)) {
			t.Errorf("%.60s: failed %t, %q, want %q", args, got.Failed, got.Text, want)
		}
	}
	j := tl.Judge(json.RawMessage(`{"channel": "terminal", "to": "ada", "text": "hi"}`))
	if j.Effect != chela.EffectSend || j.Subjects[0] != "terminal:ada" || !j.Floor() {
		t.Errorf("judged %+v", j)
	}
}
