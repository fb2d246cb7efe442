package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli"
)

// twoWays is a scenario with tools, a question and plain talk.
const twoWays = `
past_end: repeat
turns:
  - when: go
    steps:
      - {text: "Let me see.", calls: [{tool: calc, args: {expression: 2+2}}]}
      - {text: "Now I run it.", calls: [{tool: shell, args: {command: sleep 0}}]}
      - {text: "It ran."}
  - {when: talk on, steps: [{text: On and on., chunk_bytes: 2, fault: {hang: true, after: 2}}]}
  - {when: /./, steps: [{text: "You said {{user}}.", chunk_bytes: 4}]}
`

// bothWays opens a home in this process, and then through a daemon.
func bothWays(t *testing.T) (direct, through *cli.Backend) {
	t.Helper()
	cfg := newHome(t, twoWays)
	direct = openBackend(t, cfg)
	serveHome(t, cfg)
	return direct, openBackend(t, cfg)
}

func message(key chela.SessionKey, id, text string) chela.Inbound {
	return chela.Inbound{
		Session: key, Origin: chela.Origin{Channel: "terminal", Owner: true}, MessageID: id, Text: text,
		Input: chela.InputTyped, Scope: chela.ScopeAdmin,
	}
}

// An ended is what a turn came to, and what was shown of it.
type ended struct {
	State chela.TurnState
	Steps int
	Text  string            // all deltas
	Kinds []chela.EventKind // of the events that are no deltas, in order
}

// talked asks and returns what came of it.
func talked(t *testing.T, b *cli.Backend, in chela.Inbound) (chela.Turn, ended) {
	t.Helper()
	var e ended
	turn, err := b.Ask(t.Context(), in, e.show)
	if err != nil {
		t.Fatalf("ask %q: %v", in.Text, err)
	}
	e.State, e.Steps = turn.State, turn.Steps
	return turn, e
}

func (e *ended) show(event chela.Event) {
	switch event.Kind {
	case chela.EventTextDelta:
		e.Text += event.Text
	case chela.EventToolOutput: // comes as it comes
	default:
		e.Kinds = append(e.Kinds, event.Kind)
	}
}

// TestAskThroughTheDaemonIsTheSame has one conversation with a home that is
// opened, and the same with a daemon.
func TestAskThroughTheDaemonIsTheSame(t *testing.T) {
	t.Parallel()
	direct, through := bothWays(t)
	converse := func(b *cli.Backend, key chela.SessionKey) (came []ended) {
		_, plain := talked(t, b, message(key, "1"+string(key), "hello"))
		_, again := talked(t, b, message(key, "1"+string(key), "hello"))
		_, asked := talked(t, b, message(key, "2"+string(key), "go"))
		pending, err := api.All(t.Context(), b, api.ApprovalsList, api.ApprovalFilter{State: chela.ApprovalPending})
		if err != nil || len(pending) != 1 {
			t.Fatalf("%d approvals: %v", len(pending), err)
		}
		answered, err := answer(t.Context(), b, pending[0].ID, api.Answer{Answer: chela.AnswerOnce, By: "test"})
		if err != nil || answered.State != chela.ApprovalGranted {
			t.Fatalf("answered %+v: %v", answered, err)
		}
		turn, err := b.Follow(t.Context(), pending[0].Turn, func(chela.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		return append(came, plain, again, asked, ended{State: turn.State, Steps: turn.Steps})
	}
	want, got := converse(direct, "agent:main:dm:al"), converse(through, "agent:main:dm:bo")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the conversation (-direct +through)\n%s", diff)
	}
	if want[0].Text != "You said hello." || want[1].Steps != 1 || want[2].State != chela.TurnAwaiting || want[3].State != chela.TurnCompleted {
		t.Errorf("the conversation is %+v", want)
	}
}

// A look is one thing that commands ask a home. What it returns is compared.
type look struct {
	name string
	at   func(b *cli.Backend) (any, error)
}

// calling returns the look of an operation.
func calling[In, Out any](ctx context.Context, o api.Operation[In, Out], in In) func(*cli.Backend) (any, error) {
	return func(b *cli.Backend) (any, error) { return api.Call(ctx, b, o, in) }
}

// listing returns the look of an operation at all its pages.
func listing[In, T any](ctx context.Context, o api.Operation[In, api.Page[T]], in In) func(*cli.Backend) (any, error) {
	return func(b *cli.Backend) (any, error) { return api.All(ctx, b, o, in) }
}

func answer(ctx context.Context, b *cli.Backend, id chela.ApprovalID, said api.Answer) (chela.Approval, error) {
	return api.Call(ctx, b, api.ApprovalsAnswer, api.AnswerRequest{ApprovalRef: api.ApprovalRef{ID: id}, Answer: said})
}

// looks are all the reads of a home in which one turn has ended and one waits.
func looks(t *testing.T, key chela.SessionKey, done, waits chela.Turn, asked chela.Approval) []look {
	ctx := t.Context()
	return []look{
		{"turn", calling(ctx, api.TurnsShow, api.TurnQuery{TurnRef: api.TurnRef{ID: done.ID}})},
		{"limits of a session", listing(ctx, api.UsageLimits, api.LimitsQuery{Session: key})},
		{"turn that waits", calling(ctx, api.TurnsShow, api.TurnQuery{TurnRef: api.TurnRef{ID: waits.ID}})},
		{"no turn", calling(ctx, api.TurnsShow, api.TurnQuery{TurnRef: api.TurnRef{ID: "turn_nobody"}})},
		{"trace", calling(ctx, api.TurnsTrace, api.TurnRef{ID: waits.ID})},
		{"trace of no turn", calling(ctx, api.TurnsTrace, api.TurnRef{ID: "turn_x"})},
		{"replay", calling(ctx, api.TurnsReplay, api.TurnReplay{TurnRef: api.TurnRef{ID: done.ID}})},
		{
			"replay what has not ended",
			calling(ctx, api.TurnsReplay, api.TurnReplay{TurnRef: api.TurnRef{ID: waits.ID}, How: api.ReplayOptions{Live: true}}),
		},
		{"replay nothing", calling(ctx, api.TurnsReplay, api.TurnReplay{TurnRef: api.TurnRef{ID: "turn_nobody"}})},
		{"follow an ended turn", func(b *cli.Backend) (any, error) { return b.Follow(ctx, done.ID, func(chela.Event) {}) }},
		{"cancel an ended turn", calling(ctx, api.TurnsCancel, api.TurnRef{ID: done.ID})},
		{"cancel nothing", calling(ctx, api.TurnsCancel, api.TurnRef{ID: "turn_nobody"})},
		{"approvals", listing(ctx, api.ApprovalsList, api.ApprovalFilter{})},
		{"approvals that wait", listing(ctx, api.ApprovalsList, api.ApprovalFilter{State: chela.ApprovalPending})},
		{"approvals that were granted", listing(ctx, api.ApprovalsList, api.ApprovalFilter{State: chela.ApprovalGranted})},
		{"approval", calling(ctx, api.ApprovalsShow, api.ApprovalRef{ID: asked.ID})},
		{"no approval", calling(ctx, api.ApprovalsShow, api.ApprovalRef{ID: "apr_nobody"})},
		{"answer nothing", func(b *cli.Backend) (any, error) {
			return answer(ctx, b, "apr_nobody", api.Answer{Answer: chela.AnswerOnce})
		}},
		{"answer with a pattern of something else", func(b *cli.Backend) (any, error) {
			return answer(ctx, b, asked.ID, api.Answer{Answer: chela.AnswerPattern, Pattern: "false"})
		}},
		{"grants", listing(ctx, api.GrantsList, api.GrantsQuery{})},
		{"revoke nothing", calling(ctx, api.GrantsRevoke, api.GrantRef{ID: "gra_nobody"})},
		{"tokens", listing(ctx, api.TokensList, api.TokensQuery{})},
		{"revoke no token", calling(ctx, api.TokensRevoke, api.TokenRef{ID: "tok_nobody"})},
		{"make a bad token", calling(ctx, api.TokensCreate, api.NewToken{Name: "two\nlines", Scope: chela.ScopeRead})},
		{"export", func(b *cli.Backend) (any, error) {
			var text strings.Builder
			err := b.Files.Export(ctx, done.Thread, api.Export{All: true}, &text)
			return text.String(), err
		}},
		{"export of nothing", func(b *cli.Backend) (any, error) {
			return nil, b.Files.Export(ctx, "thr_nobody", api.Export{}, io.Discard)
		}},
		{"import of nothing", func(b *cli.Backend) (any, error) { return b.Files.Import(ctx, key, strings.NewReader("\n{}")) }},
		{"usage", listing(ctx, api.UsageSums, api.UsageQuery{Since: "1d"})},
		{"usage of the day after tomorrow", listing(ctx, api.UsageSums, api.UsageQuery{Since: time.Now().AddDate(0, 0, 2).Format(time.DateOnly)})},
		{"usage by session", listing(ctx, api.UsageSums, api.UsageQuery{By: chela.UsageBySession, Since: "1d"})},
		{"usage by colour", listing(ctx, api.UsageSums, api.UsageQuery{By: "colour"})},
		{"limits", listing(ctx, api.UsageLimits, api.LimitsQuery{})},
		{"settings", listing(ctx, api.ConfigList, api.SettingsQuery{})},
		{"set no setting", calling(ctx, api.ConfigSet, api.SettingChange{Key: "colour", Value: "red"})},
	}
}

// sessionLooks are the reads of sessions and their threads, and changes that are refused.
func sessionLooks(t *testing.T, key chela.SessionKey, thread chela.ThreadID) []look {
	ctx := t.Context()
	return []look{
		{"sessions", listing(ctx, api.SessionsList, api.SessionFilter{Archived: true})},
		{"session", calling(ctx, api.SessionsShow, api.SessionRef{Key: key})},
		{"unknown session", calling(ctx, api.SessionsShow, api.SessionRef{Key: "agent:main:dm:nobody"})},
		{"session without a key", calling(ctx, api.SessionsShow, api.SessionRef{Key: "../etc"})},
		{"threads", listing(ctx, api.ThreadsList, api.ThreadFilter{Session: key})},
		{"threads of an unknown session", listing(ctx, api.ThreadsList, api.ThreadFilter{Session: "agent:main:dm:nobody"})},
		{"thread", calling(ctx, api.ThreadsShow, api.ThreadRef{ID: thread})},
		{"no thread", calling(ctx, api.ThreadsShow, api.ThreadRef{ID: "thr_nobody"})},
		{"path", listing(ctx, api.ThreadsEntries, api.EntriesQuery{ThreadRef: api.ThreadRef{ID: thread}, Path: true})},
		{"path of nothing", listing(ctx, api.ThreadsEntries, api.EntriesQuery{ThreadRef: api.ThreadRef{ID: "thr_nobody"}, Path: true})},
		{"prompt", calling(ctx, api.ThreadsPrompt, api.ThreadRef{ID: thread})},
		{"prompt of nothing", calling(ctx, api.ThreadsPrompt, api.ThreadRef{ID: "thr_nobody"})},
		{"reset an unknown session", calling(ctx, api.SessionsReset, api.SessionRef{Key: "agent:main:dm:nobody"})},
		{"title of two lines", func(b *cli.Backend) (any, error) {
			return titled(ctx, b, thread, "two\nlines")
		}},
		{"title of nothing", func(b *cli.Backend) (any, error) { return titled(ctx, b, "thr_nobody", "x") }},
		{"set nothing", calling(ctx, api.SessionsChange, api.SessionChange{SessionRef: api.SessionRef{Key: "agent:main:dm:nobody"}})},
		{"set what cannot be", func(b *cli.Backend) (any, error) {
			hard := chela.ThinkingLevel("hard")
			change := api.SessionChange{SessionRef: api.SessionRef{Key: key}, Settings: api.SettingsPatch{Thinking: &hard}}
			return api.Call(ctx, b, api.SessionsChange, change)
		}},
	}
}

func titled(ctx context.Context, b *cli.Backend, id chela.ThreadID, title string) (chela.Thread, error) {
	return api.Call(ctx, b, api.ThreadsTitle, api.ThreadTitle{ThreadRef: api.ThreadRef{ID: id}, Patch: api.ThreadPatch{Title: title}})
}

// documentLooks are the reads of documents.
func documentLooks(t *testing.T) []look {
	ctx := t.Context()
	user, never := api.DocumentRef{Path: "USER.md"}, api.DocumentRef{Path: "never.md"}
	return []look{
		{"documents", calling(ctx, api.DocumentsTree, api.DocumentTreeQuery{Depth: 1})},
		{"documents of an unknown agent", calling(ctx, api.DocumentsTree, api.DocumentTreeQuery{Agent: "nobody", Depth: 1})},
		{"no folder", calling(ctx, api.DocumentsTree, api.DocumentTreeQuery{Path: "never", Depth: 1})},
		{"document", calling(ctx, api.DocumentsShow, api.DocumentQuery{DocumentRef: api.DocumentRef{Path: "user.md"}})},
		{"document as it was", calling(ctx, api.DocumentsShow, api.DocumentQuery{DocumentRef: user, Version: 1})},
		{"document as it never was", calling(ctx, api.DocumentsShow, api.DocumentQuery{DocumentRef: user, Version: 9})},
		{"no document", calling(ctx, api.DocumentsShow, api.DocumentQuery{DocumentRef: never})},
		{"document elsewhere", calling(ctx, api.DocumentsShow, api.DocumentQuery{DocumentRef: api.DocumentRef{Path: "../a.md"}})},
		{"versions", calling(ctx, api.DocumentsVersions, api.DocumentVersionsQuery{DocumentRef: user})},
		{"versions of nothing", calling(ctx, api.DocumentsVersions, api.DocumentVersionsQuery{DocumentRef: never})},
		{"delete no document", calling(ctx, api.DocumentsDelete, never)},
	}
}

// homeLooks are the reads of what is not in the store.
func homeLooks(t *testing.T) []look {
	ctx := t.Context()
	running := func(tool, args string) func(*cli.Backend) (any, error) {
		return calling(ctx, api.ToolsRun, api.ToolRequest{Name: tool, Run: api.ToolRun{Agent: "main", Args: json.RawMessage(args)}})
	}
	trying := func(model string) func(*cli.Backend) (any, error) {
		return func(b *cli.Backend) (any, error) {
			page, err := api.Call(ctx, b, api.ModelsTest, api.ModelTest{Model: model})
			return untimed(page.Items), err
		}
	}
	return []look{
		{"tools", listing(ctx, api.ToolsList, api.ToolsQuery{})},
		{"tools of an unknown agent", listing(ctx, api.ToolsList, api.ToolsQuery{Agent: "nobody"})},
		{"call a tool", running("calc", `{"expression":"2+2"}`)},
		{"call a tool wrongly", running("calc", `{"expression":`)},
		{"call a tool with a wrong value", running("calc", `{"expression":[]}`)},
		{"call no tool", running("frobnicate", `{}`)},
		{"models", func(b *cli.Backend) (any, error) { return api.AllModels(ctx, b) }},
		{"test a model", trying("offline/rules")},
		{"test every model", trying("")},
		{"test no model", trying("nobody/at-all")},
		{"attach", func(b *cli.Backend) (any, error) { return b.Attach(ctx, "note.txt", bytes.NewReader([]byte("a note"))) }},
		{"say nothing", func(b *cli.Backend) (any, error) {
			return b.Ask(ctx, message("agent:main:main", "x", " "), func(chela.Event) {})
		}},
		{"say something to nobody", func(b *cli.Backend) (any, error) {
			return b.Ask(ctx, message("agent:nobody:main", "x", "hello"), func(chela.Event) {})
		}},
		{"status", func(b *cli.Backend) (any, error) {
			s, err := api.Call(ctx, b, api.StatusShow, api.None{})
			s.Daemon, s.Listen, s.Version = false, "", "" // that is the difference
			return s, err
		}},
	}
}

// ownWords are the looks that the daemon refuses in words of its own, before it
// asks the home.
var ownWords = []string{"make a bad token", "call a tool wrongly", "say something to nobody"}

// TestLooksThroughTheDaemonAreTheSame takes every look at a home both ways.
func TestLooksThroughTheDaemonAreTheSame(t *testing.T) {
	t.Parallel()
	direct, through := bothWays(t)
	const key = chela.SessionKey("agent:main:main")
	done, _ := talked(t, direct, message(key, "1", "hello"))
	waits, _ := talked(t, through, message("agent:main:dm:al", "2", "go"))
	if _, err := api.Call(t.Context(), direct, api.TokensCreate, api.NewToken{Name: "laptop", Scope: chela.ScopeRead}); err != nil {
		t.Fatal(err)
	}
	asked, err := api.All(t.Context(), direct, api.ApprovalsList, api.ApprovalFilter{State: chela.ApprovalPending})
	if err != nil || len(asked) != 1 {
		t.Fatalf("%d approvals: %v", len(asked), err)
	}
	for _, l := range slices.Concat(sessionLooks(t, key, done.Thread), looks(t, key, done, waits, asked[0]), documentLooks(t), homeLooks(t)) {
		want, wantErr := l.at(direct)
		got, gotErr := l.at(through)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" && wantErr == nil {
			t.Errorf("%s (-direct +through)\n%s", l.name, diff)
		}
		said := func(err error) string {
			if err == nil || slices.Contains(ownWords, l.name) || chela.KindOf(err) == chela.Invalid {
				return string(chela.KindOf(err)) // the gateway refuses invalid requests itself, in words of its schemas
			}
			return string(chela.KindOf(err)) + ": " + chela.MessageOf(err)
		}
		if said(wantErr) != said(gotErr) {
			t.Errorf("%s: direct %q, through %q", l.name, said(wantErr), said(gotErr))
		}
	}
}

// TestEditsThroughTheDaemonAreTheSame makes edits both ways.
func TestEditsThroughTheDaemonAreTheSame(t *testing.T) {
	t.Parallel()
	direct, through := bothWays(t)
	first, second := int64(1), int64(2)
	made := func(b *cli.Backend, path string) (docs []chela.Document) {
		for _, q := range []api.DocumentWrite{
			{Text: "one"}, {Text: "two", Append: true, Expect: &first}, {Text: "three", Append: true, Expect: &second},
		} {
			q.Path = path
			docs = append(docs, must(api.Call(t.Context(), b, api.DocumentsWrite, q))(t))
		}
		return append(docs, must(api.Call(t.Context(), b, api.DocumentsDelete, api.DocumentRef{Path: path}))(t))
	}
	fresh := cmp.FilterPath(func(p cmp.Path) bool {
		return slices.Contains([]string{"Path", "CreatedAt", "Key", "WrittenAt"}, p.Last().String()[1:])
	}, cmp.Ignore())
	if diff := cmp.Diff(made(direct, "a.md"), made(through, "b.md"), fresh); diff != "" {
		t.Errorf("what was made (-direct +through)\n%s", diff)
	}
	for _, b := range []*cli.Backend{direct, through} {
		_, err := api.Call(t.Context(), b, api.DocumentsWrite, api.DocumentWrite{Path: "a.md", Text: "x", Expect: &second})
		if chela.KindOf(err) != chela.Conflict {
			t.Errorf("a version that it has not: %v", err)
		}
	}
}

// untimed returns trials without the time that they took.
func untimed(trials []api.Trial) []api.Trial {
	for i := range trials {
		trials[i].MS = 0
	}
	return trials
}
