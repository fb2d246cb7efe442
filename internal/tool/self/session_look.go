package self

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"chela"
	"chela/internal/safety/provenance"
	"chela/internal/tool"
)

type sessionListInput struct {
	Kind  string `json:"kind,omitempty" jsonschema:"only sessions of this kind" enum:"main,dm,group,channel,subagent,job,cron,hook"`
	Limit int    `json:"limit,omitempty" jsonschema:"number of rows" min:"1" max:"100"`
}

func (d sessionTools) list(ctx context.Context, call tool.Call[sessionListInput]) (chela.ToolResult, error) {
	if !isPrivate(call.Session) {
		return tool.Done(string(call.Session) + "  this one; other sessions are not listed here"), nil
	}
	found, err := d.Sessions(ctx, call.Agent, chela.KeyKind(call.In.Kind), cmp.Or(call.In.Limit, 20))
	var b strings.Builder
	for _, s := range found {
		fmt.Fprintf(&b, "%s  used %s", s.Key, s.UpdatedAt.UTC().Format(time.RFC3339))
		if label := cmp.Or(s.Settings.Label, s.Settings.DisplayName, s.Settings.Subject); label != "" {
			fmt.Fprintf(&b, "  %s", oneLine(label))
		}
		if s.Key == call.Session {
			b.WriteString("  (this one)")
		}
		b.WriteByte('\n')
	}
	return tool.Done(cmp.Or(b.String(), "[there are no such sessions]")), err
}

type sessionHistoryInput struct {
	SessionKey string `json:"session_key" jsonschema:"key of the session"`
	Limit      int    `json:"limit,omitempty" jsonschema:"number of entries" min:"1" max:"200"`
	Tools      bool   `json:"tools,omitempty" jsonschema:"include tool calls and results"`
}

func (d sessionTools) history(ctx context.Context, call tool.Call[sessionHistoryInput]) (res chela.ToolResult, err error) {
	key, err := findSession(call.ToolCall, call.In.SessionKey)
	if err != nil {
		return res, err
	}
	entries, err := d.History(ctx, call.Agent, key, cmp.Or(call.In.Limit, 30))
	res = tool.Done(transcript(entries, call.In.Tools))
	res.Provenance = provenance.OfEntries(entries)
	return res, err
}

// maxEntry limits the text shown of one entry, in bytes.
const maxEntry = 4000

// transcript formats entries for the model.
func transcript(entries []chela.Entry, tools bool) string {
	var b strings.Builder
	for _, e := range entries {
		text := e.Text()
		switch e.Kind() {
		case chela.EntryUser, chela.EntryNote, chela.EntryCompaction:
		case chela.EntryAssistant:
			for _, c := range e.Answer().Calls {
				if tools {
					text += fmt.Sprintf("\n[calls %s %s]", c.Tool, c.Args)
				}
			}
		case chela.EntryToolResult:
			if !tools {
				continue
			}
		default:
			continue
		}
		if text = strings.TrimSpace(text); text == "" || e.Mark().Hidden {
			continue
		}
		fmt.Fprintf(&b, "[%s %s]\n%s\n\n", e.CreatedAt.UTC().Format(time.RFC3339), speaker(e), cutEntry(text))
	}
	return cmp.Or(strings.TrimSpace(b.String()), "[nothing was said there]")
}

// speaker names the author of an entry.
func speaker(e chela.Entry) string {
	if from := e.User().From; from != "" {
		return string(e.Kind()) + " " + oneLine(from)
	}
	return string(e.Kind())
}

// cutEntry returns the beginning of a text, whole runes only.
func cutEntry(text string) string {
	if len(text) <= maxEntry {
		return text
	}
	return strings.ToValidUTF8(text[:maxEntry], "") + fmt.Sprintf("… [%d more bytes]", len(text)-maxEntry)
}

type sendInput struct {
	SessionKey string `json:"session_key" jsonschema:"key of the session"`
	Text       string `json:"text" jsonschema:"the message"`
}

func (in sendInput) judge() chela.Judgement {
	j := change("to session "+in.SessionKey+": "+in.Text, in.SessionKey)
	if !isPrivate(chela.SessionKey(in.SessionKey)) { // other participants read along there
		j.Effect = chela.EffectSend
	}
	return j
}

func (d sessionTools) send(ctx context.Context, call tool.Call[sendInput]) (chela.ToolResult, error) {
	key, err := findSession(call.ToolCall, call.In.SessionKey)
	switch {
	case err != nil:
		return chela.ToolResult{}, err
	case key == call.Session:
		return tool.Failed("that is this session: say it in your answer"), nil
	case blank(call.In.Text):
		return tool.Failed("there is no text"), nil
	}
	return tool.Done("sent"), d.Send(ctx, key, call.In.Text, call.ToolCall)
}
