package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/channel/terminal"
)

// A desk holds one approval of one turn.
type desk struct {
	approval chela.Approval
	replies  []Reply
	foreign  bool // somebody else answers first
}

func (d *desk) Approvals(context.Context, chela.ApprovalState) ([]chela.Approval, error) {
	other := chela.Approval{ID: "apr_0", Turn: "turn_0"}
	if d.approval.State != chela.ApprovalPending {
		return []chela.Approval{other}, nil
	}
	return []chela.Approval{other, d.approval}, nil
}

func (d *desk) Approval(context.Context, chela.ApprovalID) (chela.Approval, error) {
	return d.approval, nil
}

func (d *desk) Answer(_ context.Context, r Reply) (chela.Approval, error) {
	d.replies = append(d.replies, r)
	if r.Pattern == "bad" {
		return d.approval, chela.E(chela.Invalid, "the pattern does not cover it").WithHint("name all of it")
	}
	d.approval.State = chela.ApprovalGranted
	if d.foreign {
		return d.approval, chela.E(chela.Conflict, "it was answered")
	}
	return d.approval, nil
}

func (d *desk) Ask(context.Context, chela.Inbound, func(chela.Event)) (chela.Turn, error) {
	return d.Follow(context.Background(), "turn_1", nil)
}

func (d *desk) Follow(context.Context, chela.TurnID, func(chela.Event)) (chela.Turn, error) {
	if d.approval.State == chela.ApprovalPending {
		return chela.Turn{ID: "turn_1", State: chela.TurnAwaiting}, nil
	}
	return chela.Turn{ID: "turn_1", State: chela.TurnCompleted}, nil
}

func (d *desk) Stop(context.Context, chela.TurnID) error { return nil }

func TestPersonAnswers(t *testing.T) {
	t.Parallel()
	const asked = "? shell (execute)\n  make\n"
	const keys = "[y]es once, [a]lways this session, [p]attern, [n]o, [r]eason: "
	const pattern = "allow what (* stands for any text, empty goes back): "
	yes := Reply{Approval: "apr_1", Answer: chela.AnswerOnce, By: "owner on the terminal"}
	bad := Reply{Approval: "apr_1", Answer: chela.AnswerPattern, Pattern: "bad", By: "owner on the terminal"}
	tests := []struct {
		name    string
		input   string
		foreign bool
		replies []Reply
		shown   string
		err     chela.Kind
	}{
		{"yes", "y\n", false, []Reply{yes}, asked + keys, ""},
		{"typing error first", "x\ny\n", false, []Reply{yes}, asked + keys + "type one of the letters\n" + keys, ""},
		{
			"pattern that does not cover it", "p\nbad\ny\n", false,
			[]Reply{bad, yes},
			asked + keys + "make\n" + pattern + "the pattern does not cover it; name all of it\n" + keys, "",
		},
		{"nobody answers", "", false, nil, asked + keys + "\n", chela.Denied},
		{"answered from elsewhere", "y\n", true, []Reply{yes}, asked + keys, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := &desk{foreign: tt.foreign, approval: chela.Approval{
				ID: "apr_1", Turn: "turn_1", State: chela.ApprovalPending, Tool: "shell", Effect: chela.EffectExecute,
				Preview: "make", Subjects: []string{"make"},
			}}
			var out, errs strings.Builder
			p := newPrinter(&out, &errs)
			r := terminal.NewRenderer(p.Screen, false)
			dialog := &talk{
				b: &Backend{Conversation: d, Approvals: d}, p: p, in: terminal.NewInput(strings.NewReader(tt.input)),
				approve: approveAsk, person: true, r: r, show: r.Show, interruptible: context.WithCancel,
			}
			_, err := dialog.ask(t.Context(), chela.Inbound{})
			if chela.KindOf(err) != tt.err {
				t.Errorf("ended with %v", err)
			}
			if diff := cmp.Diff(tt.replies, d.replies); diff != "" {
				t.Errorf("replies (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.shown, errs.String()); diff != "" {
				t.Errorf("shown (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		want int
	}{
		{nil, 0},
		{chela.E(chela.Invalid, "x"), 2},
		{chela.E(chela.NotFound, "x"), 1},
		{chela.E(chela.Conflict, "x"), 1},
		{chela.E(chela.Denied, "x"), 3},
		{chela.E(chela.Exhausted, "x"), 4},
		{chela.E(chela.Unavailable, "x"), 1},
		{chela.E(chela.Unsupported, "x"), 1},
		{&chela.ProviderError{Kind: chela.Denied, Msg: "x"}, 3},
		{context.Canceled, 130},
		{context.DeadlineExceeded, 1},
		{errInterrupted, 130},
		{ending(chela.Turn{State: chela.TurnCompleted}), 0},
		{ending(chela.Turn{State: chela.TurnInterrupted}), 130},
		{ending(chela.Turn{State: chela.TurnLimited}), 4},
		{ending(chela.Turn{State: chela.TurnFailed}), 1},
		{ending(chela.Turn{State: chela.TurnProcessing}), 1},
	}
	for _, tt := range tests {
		if got := ExitCode(tt.err); got != tt.want {
			t.Errorf("ExitCode(%v) = %d, want %d", tt.err, got, tt.want)
		}
	}
}

func TestErrorLine(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		want string
	}{
		{chela.E(chela.Invalid, "a\x1b[2J").WithHint("do b"), `chela: a\x1b[2J; do b`},
		{context.Canceled, "chela: cancelled"},
		{errInterrupted, "chela: interrupted"},
		{chela.E(chela.Internal, "").Because(strings.NewReader("").UnreadByte()), "chela: internal error: strings.Reader.UnreadByte: at beginning of string"},
	}
	for _, tt := range tests {
		if got := errorLine(tt.err); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
