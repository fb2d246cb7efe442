package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/channel/terminal"
	"chela/internal/config"
	"chela/internal/lane"
)

// askFlags are the flags of ask.
type askFlags struct {
	session string
	thread  string
	agent   string
	model   string
	approve string
	stream  bool
	attach  []string
	id      string
}

func (c *commands) askCommand() *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use:   "ask [flags] [TEXT]",
		Short: "Ask one thing and print the answer",
		Long: "Ask one thing and print the answer. What is piped in is added to the text; where there is\n" +
			"a text, what does not begin to come in a few seconds is not waited for.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd.Context(), f, strings.Join(args, " "))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.session, "session", "", "session key (default: the agent's main session)")
	flags.StringVar(&f.thread, "thread", "", "thread of the session (default: its current one)")
	flags.StringVar(&f.agent, "agent", "", "agent that answers (default: that of the session)")
	flags.StringVar(&f.model, "model", "", "provider/model for this turn")
	flags.StringVar(&f.approve, "approve", string(approveAsk), "what to do with approvals: ask, always or never")
	flags.BoolVar(&f.stream, "stream", false, "print the answer as it comes; with --json one event for each line")
	flags.StringVar(&f.id, "message-id", "", "name of this message: the same name again is not a new message, but waits for the first one's answer")
	flags.StringArrayVar(&f.attach, "attach", nil, "file to send with the text; may be repeated")
	return cmd
}

// An answer is what ask prints with --json.
type answer struct {
	Session   chela.SessionKey `json:"session"`
	Thread    chela.ThreadID   `json:"thread"`
	Turn      chela.TurnID     `json:"turn"`
	State     chela.TurnState  `json:"state"`
	Text      string           `json:"text"`
	Failure   *chela.Failure   `json:"failure,omitempty"`
	Approvals []chela.Approval `json:"approvals,omitempty"` // what the turn waits for
}

func (c *commands) ask(ctx context.Context, f askFlags, text string) error {
	in := terminal.NewInput(c.Stdin)
	switch approveMode(f.approve) {
	case approveAsk, approveAlways, approveNever:
	default:
		return chela.E(chela.Invalid, fmt.Sprintf("--approve cannot be %q", terminal.OneLine(f.approve, 40))).
			WithHint("use ask, always or never")
	}
	text, err := c.withPiped(in, text)
	if err != nil {
		return err
	}
	cfg, err := c.config()
	if err != nil {
		return err
	}
	message, err := f.inbound(cfg, text)
	if err != nil {
		return err
	}
	return c.openWith(ctx, cfg, func(b *Backend) error {
		if message.Attachments, err = attachments(ctx, b, f.attach); err != nil {
			return err
		}
		c.sayOffline(cfg, message)
		t := c.talk(b, in, f.stream && !c.p.json)
		t.approve = approveMode(f.approve)
		if f.stream && c.p.json {
			t.show = c.eventLine
		}
		turn, err := t.ask(ctx, message)
		return c.answered(ctx, t, turn, notThere(err, "see chela threads list --session "+string(message.Session)))
	})
}

// talk returns a talk that reads answers from in.
func (c *commands) talk(b *Backend, in *terminal.Input, stream bool) *talk {
	r := terminal.NewRenderer(c.p.Screen, stream)
	return &talk{
		b: b, p: c.p, in: in, approve: approveAsk,
		person:        isTerminal(c.Stdin) && c.p.ErrTerminal,
		interruptible: c.Interruptible,
		r:             r,
		show:          r.Show,
	}
}

// answered prints what a turn came to. A turn that did not complete may have
// an answer all the same.
func (c *commands) answered(ctx context.Context, t *talk, turn chela.Turn, ended error) error {
	if turn.ID == "" || ctx.Err() != nil {
		t.r.Finish("")
		return ended
	}
	text, err := t.answer(ctx, turn.ID)
	if err != nil {
		return err
	}
	if !c.p.json {
		t.r.Finish(text)
		return ended
	}
	a := answer{
		Session: turn.Session, Thread: turn.Thread, Turn: turn.ID, State: turn.State, Text: text, Failure: turn.Failure,
	}
	if turn.State == chela.TurnAwaiting {
		if a.Approvals, err = t.pending(ctx, turn.ID); err != nil {
			return err
		}
	}
	if err := c.p.document(a); err != nil {
		return err
	}
	return ended
}

// withPiped adds what is piped in to the text of the command line.
func (c *commands) withPiped(in *terminal.Input, text string) (string, error) {
	switch {
	case !terminal.IsPiped(c.Stdin):
	case text != "" && !c.Arrives():
		c.p.Note("nothing comes from standard input, so only the text is sent; end it with < /dev/null, or pipe the text too")
	default:
		piped, err := in.All()
		if err != nil {
			return "", err
		}
		text = strings.TrimSpace(text + "\n\n" + piped)
	}
	if strings.TrimSpace(text) == "" {
		return "", chela.E(chela.Invalid, "there is nothing to ask").WithHint(`write chela ask "TEXT", or pipe it in`)
	}
	return text, nil
}

// inbound returns the message that the flags ask for.
func (f askFlags) inbound(cfg *config.Config, text string) (chela.Inbound, error) {
	in := chela.Inbound{
		Session: chela.SessionKey(f.session), Thread: chela.ThreadID(f.thread), Agent: f.agent, Model: f.model,
		Text: text, Origin: chela.Origin{Channel: "terminal", Owner: true}, MessageID: f.id,
	}
	if in.Session == "" {
		if in.Agent == "" {
			in.Agent = "main"
		}
		in.Session = chela.MainKey(in.Agent)
	}
	key, err := chela.ParseSessionKey(in.Session)
	if err != nil {
		return in, err
	}
	switch {
	case in.Agent == "" && key.Agent == "":
		in.Agent = "main"
	case in.Agent == "":
		in.Agent = key.Agent
	case key.Agent != "" && key.Agent != in.Agent:
		return in, chela.E(chela.Invalid, fmt.Sprintf("the session belongs to agent %s, not %s", key.Agent, terminal.OneLine(in.Agent, 40))).
			WithHint("leave --agent out")
	}
	agent, err := cfg.Agent(in.Agent)
	if err != nil {
		return in, err
	}
	model := agent.Model
	if in.Model != "" {
		model = in.Model
	}
	if _, _, err = cfg.Resolve(model); err != nil {
		return in, err
	}
	check := in
	check.MessageID = cmp.Or(in.MessageID, "new") // it gets its name where it is stored
	return in, lane.Check(check)
}

// sayOffline tells that no model answers, unless that was asked for.
func (c *commands) sayOffline(cfg *config.Config, in chela.Inbound) {
	chosen, err := cfg.Value("model")
	if err != nil || in.Model != "" || chosen.Source != "default: no key found" {
		return
	}
	if a, err := cfg.Agent(in.Agent); err != nil || a.Model != cfg.Model {
		return
	}
	c.p.Note("no model is set up, so the built-in offline rules answer; set ANTHROPIC_API_KEY, OPENAI_API_KEY or " +
		"OPENROUTER_API_KEY, or add a [providers.NAME] section with the base_url of a local model to config.toml")
}

// attachments keeps the files that go with a message.
func attachments(ctx context.Context, b *Backend, names []string) ([]chela.Attachment, error) {
	var kept []chela.Attachment
	for _, name := range names {
		a, err := attach(ctx, b, name)
		if err != nil {
			return nil, err
		}
		kept = append(kept, a)
	}
	return kept, nil
}

func attach(ctx context.Context, b *Backend, name string) (chela.Attachment, error) {
	f, err := os.Open(name)
	if err != nil {
		return chela.Attachment{}, chela.E(chela.Invalid, "cannot read "+terminal.OneLine(name, 80)).
			WithHint("name a file that you may read").Because(err)
	}
	defer f.Close() // it is only read
	if at, err := f.Stat(); err == nil && at.IsDir() {
		return chela.Attachment{}, chela.E(chela.Invalid, terminal.OneLine(name, 80)+" is a folder").WithHint("name a file")
	}
	return b.Attach(ctx, filepath.Base(name), f)
}
