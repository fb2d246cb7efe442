package command

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/engine/lane"
	"chela/internal/engine/session"
	"chela/internal/store"
)

// directed applies the directives of a message, if its sender may give them.
func (i *Interpreter) directed(ctx context.Context, in chela.Inbound, p ParsedMessage) (chela.Inbound, error) {
	if err := refused(in, p.Directives[0].Form); err != nil {
		return in, err
	}
	in.Text = p.Text
	for _, d := range p.Directives {
		if err := d.On(&in); err != nil {
			return in, err
		}
		if err := i.usable(d); err != nil {
			return in, err
		}
	}
	if in.Overrides.Elevated == "" {
		return in, nil
	}
	s, err := store.Find(ctx, i.store, func(r *store.Read) (chela.Session, error) { return r.Session(ctx, in.Session) })
	if err != nil && chela.KindOf(err) != chela.NotFound {
		return in, err
	}
	if session.Raises(s.Settings.Elevated, in.Overrides.Elevated) && !in.MayElevate() {
		return in, notElevated()
	}
	return in, nil
}

// notElevated is the error for an elevation from a place or sender without that
// right.
func notElevated() error {
	return chela.E(chela.Denied, "/elevated is taken only from the owner, as typed in a chat on a terminal or on a page with all rights").
		WithHint("type it there, or run chela sessions set KEY elevated=LEVEL")
}

// Elevating returns also with the announcement of a message whose turn has its
// approvals lifted, and also itself for any other message.
func (i *Interpreter) Elevating(in chela.Inbound, also lane.AcceptHook) lane.AcceptHook {
	if !session.Elevates(in.Overrides.Elevated) {
		return also
	}
	return func(ctx context.Context, w *store.Write, id chela.InboxID) error {
		if also != nil {
			if err := also(ctx, w, id); err != nil {
				return err
			}
		}
		i.cfg.Log.Info("turn elevated", "session", in.Session, "level", in.Overrides.Elevated, "by", by(in), "inbox", id)
		w.Hint(chela.Event{Kind: chela.EventElevated, Session: in.Session, Inbox: id, Text: in.Overrides.Elevated})
		return nil
	}
}

// usable refuses an unavailable model.
func (i *Interpreter) usable(d Directive) error {
	if d.Form.Name != Model || d.IsDefault() {
		return nil
	}
	return i.cfg.Usable(d.Value)
}

// settle is the order of directives on their own: they apply to the session.
func (i *Interpreter) settle(ctx context.Context, in chela.Inbound, directives []Directive) (lane.Command, error) {
	for _, d := range directives {
		if err := i.usable(d); err != nil {
			return nil, err
		}
	}
	return func(w *store.Write, at *store.Arrival) (lane.Outcome, error) {
		before := at.Session.Settings
		var said []string
		for _, d := range directives {
			d.In(&at.Session.Settings)
			said = append(said, i.setTo(d.Form.Name, at.Session, in))
		}
		after := at.Session.Settings
		if session.Raises(before.Elevated, after.Elevated) && !in.MayElevate() {
			return lane.Outcome{}, notElevated()
		}
		if err := session.Permit(before, after, in.Scope); err != nil {
			return lane.Outcome{}, err
		}
		done, err := i.save(ctx, w, at, strings.Join(said, "\n"))
		if err == nil && session.Raises(before.Elevated, after.Elevated) && session.Elevates(after.Elevated) {
			i.cfg.Log.Info("session elevated", "session", at.Session.Key, "level", after.Elevated, "by", by(in))
			done.Events = append(done.Events, chela.Event{Kind: chela.EventElevated, Session: at.Session.Key, Thread: at.Session.Thread, Text: after.Elevated})
		}
		return done, err
	}, nil
}

// setTo reports the new value of a setting.
func (i *Interpreter) setTo(name string, s chela.Session, in chela.Inbound) string {
	text := name + " is " + i.valueOf(name, s, in) + " in this session now."
	if name != Elevated {
		return text
	}
	return text + " " + cmp.Or(map[string]string{
		"off":  "What would need a yes is refused.",
		"on":   "Programs and the network are not asked about until the next thread; what is risky still is.",
		"full": "Programs and the network are not asked about until the next thread, risky or not.",
	}[s.Settings.Elevated], "What needs a yes is asked about.")
}

// valueOf describes the value of a setting, and whether it comes from the
// session.
func (i *Interpreter) valueOf(name string, s chela.Session, in chela.Inbound) string {
	if name == Queue {
		text := waiting(i.cfg.Queue(chela.Inbound{Origin: in.Origin}, s.Settings))
		if s.Settings.Queue == (chela.QueueSettings{}) {
			text += " (default)"
		}
		return text
	}
	if own := *settingAt(&s.Settings, name); own != "" {
		return own
	}
	otherwise := map[string]string{Think: "left to the model", Verbose: "on", Reasoning: "off", Elevated: "ask"}[name]
	if name == Model {
		otherwise = i.cfg.Model(s, chela.Inbound{})
	}
	return otherwise + " (default)"
}

// waiting says how messages wait.
func waiting(q chela.QueueSettings) string {
	parts := []string{string(q.Mode)}
	if q.DebounceMS != 0 {
		parts = append(parts, "debounce="+(time.Duration(max(q.DebounceMS, 0))*time.Millisecond).String())
	}
	if q.Cap != 0 {
		parts = append(parts, fmt.Sprintf("cap=%d", q.Cap))
	}
	if q.Drop != "" {
		parts = append(parts, "drop="+string(q.Drop))
	}
	return strings.Join(parts, " ")
}

// show describes a setting with its possible values.
func (g given) show(_ context.Context) (string, error) {
	return fmt.Sprintf("%s is %s. It can be %s, or default.", g.form.Name, g.valueOf(g.form.Name, g.session, g.Inbound), OneOf(g.form.Values)), nil
}

// models shows the model, or lists the known ones.
func (g given) models(ctx context.Context) (string, error) {
	if g.args == "" {
		return fmt.Sprintf("model is %s. /model PROVIDER/MODEL sets another, /model list shows some.", g.valueOf(Model, g.session, g.Inbound)), nil
	}
	all, err := api.AllModels(ctx, g)
	if err != nil {
		return "", err
	}
	text := "Models that are known:"
	for _, m := range all.Items {
		text += "\n- " + m.Provider + "/" + m.Name
	}
	if len(all.Items) == 0 {
		text = "No model is known; add a provider to config.toml."
	}
	for _, a := range all.Away {
		text += "\nThose of " + a.Provider + " are not: " + a.Message
	}
	return text, nil
}
