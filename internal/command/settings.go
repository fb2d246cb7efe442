package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"chela"
	"chela/internal/command/grammar"
	"chela/internal/lane"
	"chela/internal/store"
)

// directed sets the directives of a message in it. Those of somebody who is not
// the owner are refused at the beginning, where they are meant, and are text
// anywhere else.
func (i *Interpreter) directed(in chela.Inbound, p grammar.Parsed) (chela.Inbound, error) {
	if !in.Origin.Owner {
		if strings.HasPrefix(strings.TrimSpace(in.Text), "/") {
			return in, refused(in, p.Directives[0].Form)
		}
		return in, nil
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
	return in, nil
}

// usable refuses a model that cannot be asked.
func (i *Interpreter) usable(d grammar.Directive) error {
	if d.Form.Name != grammar.Model || d.IsDefault() {
		return nil
	}
	return i.cfg.Usable(d.Value)
}

// settle is the order of directives that stand alone: they are set for the
// session.
func (i *Interpreter) settle(ctx context.Context, in chela.Inbound, directives []grammar.Directive) (lane.Order, error) {
	for _, d := range directives {
		if err := i.usable(d); err != nil {
			return nil, err
		}
	}
	return func(w *store.Write, at *store.Arrival) (lane.Outcome, error) {
		var said []string
		for _, d := range directives {
			d.In(&at.Session.Settings)
			said = append(said, i.setTo(d.Form.Name, at.Session, in))
		}
		return i.save(ctx, w, at, strings.Join(said, "\n"))
	}, nil
}

// setTo says what a setting is from now on.
func (i *Interpreter) setTo(name string, s chela.Session, in chela.Inbound) string {
	text := name + " is " + i.valueOf(name, s, in) + " in this session now."
	if name != grammar.Elevated {
		return text
	}
	switch s.Settings.Elevated {
	case "off":
		return text + " What would need a yes is refused."
	case "on":
		return text + " Programs and the network are not asked about until the next thread; what is risky still is."
	case "full":
		return text + " Programs and the network are not asked about until the next thread, risky or not."
	default:
		return text + " What needs a yes is asked about."
	}
}

// valueOf says what a setting is, and whether the session says so.
func (i *Interpreter) valueOf(name string, s chela.Session, in chela.Inbound) string {
	var own, otherwise string
	switch set := s.Settings; name {
	case grammar.Think:
		own, otherwise = string(set.Thinking), "left to the model"
	case grammar.Verbose:
		own, otherwise = set.Verbose, "on"
	case grammar.Reasoning:
		own, otherwise = set.Reasoning, "off"
	case grammar.Elevated:
		own, otherwise = set.Elevated, "ask"
	case grammar.Model:
		own, otherwise = set.Model, i.cfg.Model(s, chela.Inbound{})
	case grammar.Queue:
		otherwise = waiting(i.cfg.Queue(chela.Inbound{Origin: in.Origin}, set))
		if set.Queue != (chela.QueueSettings{}) {
			own = otherwise
		}
	}
	if own != "" {
		return own
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

// show tells what a setting is and could be.
func (i *Interpreter) show(_ context.Context, g given) (lane.Order, error) {
	return reply(fmt.Sprintf("%s is %s. It can be %s, or default.", g.form.Name, i.valueOf(g.form.Name, g.session, g.Inbound), grammar.OneOf(g.form.Values))), nil
}

// models shows the model, or lists those there are.
func (i *Interpreter) models(ctx context.Context, g given) (lane.Order, error) {
	if g.args == "" {
		return reply(fmt.Sprintf("model is %s. /model PROVIDER/MODEL sets another, /model list shows some.", i.valueOf(grammar.Model, g.session, g.Inbound))), nil
	}
	all, err := i.cfg.Models(ctx)
	if err != nil {
		return nil, err
	}
	lines := []string{"Models that are known:"}
	for _, m := range all.Items {
		lines = append(lines, "- "+m.Provider+"/"+m.Name)
	}
	if len(all.Items) == 0 {
		lines = []string{"No model is known; add a provider to config.toml."}
	}
	for _, a := range all.Away {
		lines = append(lines, "Those of "+a.Provider+" are not: "+a.Message)
	}
	return reply(strings.Join(lines, "\n")), nil
}
