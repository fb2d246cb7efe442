package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"chela"
	"chela/internal/engine/lane"
	"chela/internal/store"
)

// maxListed is how many threads are listed.
const maxListed = 20

// begin is the order that begins a new thread. A thread that is still empty is
// already new.
func (i *Interpreter) begin(ctx context.Context, g given) (lane.Command, error) {
	title := firstLine(g.args)
	return func(w *store.Write, at *store.Arrival) (lane.Outcome, error) {
		before := at.Thread
		if isNew(before) && title == "" {
			return lane.Outcome{Reply: "This thread is new and empty."}, nil
		}
		now := i.cfg.Now().UTC().Truncate(time.Microsecond)
		t := chela.Thread{ID: i.cfg.IDs.Thread(), Session: at.Session.Key, Title: title, State: chela.ThreadIdle, CreatedAt: now, UpdatedAt: now}
		if err := w.CreateThread(ctx, t); err != nil {
			return lane.Outcome{}, err
		}
		at.Session.SwitchTo(t.ID)
		at.Thread = t
		text := "A new thread begins."
		if !isNew(before) {
			text += " The old one is kept: /resume goes back to it."
		}
		if before.State == chela.ThreadProcessing {
			text += " What runs in it goes on."
		}
		return i.save(ctx, w, at, text)
	}, nil
}

// isNew reports whether a thread, including the part before its branch, is
// empty.
func isNew(t chela.Thread) bool { return t.Seq == 0 && t.Head == "" }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return Shortened(strings.TrimSpace(line))
}

// threads shows, lists, begins or switches threads.
func (i *Interpreter) threads(ctx context.Context, g given) (lane.Command, error) {
	word, rest := CutWord(g.args)
	switch strings.ToLower(word) {
	case "":
		return reply(threadLine(g.thread)), nil
	case "list":
		return i.listThreads(ctx, g)
	case "new":
		g.args = strings.TrimSpace(rest)
		return i.begin(ctx, g)
	default:
		return i.switchTo(ctx, g)
	}
}

// threadLine is a thread as a line.
func threadLine(t chela.Thread) string {
	if t.ID == "" {
		return "none yet; it begins with the first message"
	}
	title := "untitled"
	if t.Title != "" {
		title = strconv.Quote(t.Title)
	}
	entries := fmt.Sprintf("%d entries", t.Seq)
	if t.Seq == 0 && t.Head != "" {
		entries = "a branch"
	}
	return fmt.Sprintf("%s (%s), %s, %s", title, t.ID, entries, plain(string(t.State)))
}

// others returns the threads of a session, most recently used first.
func (i *Interpreter) others(ctx context.Context, key chela.SessionKey) ([]chela.Thread, error) {
	found, err := store.Find(ctx, i.store, func(r *store.Read) ([]chela.Thread, error) { return r.Threads(ctx, key) })
	slices.SortStableFunc(found, func(a, b chela.Thread) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return found, err
}

func (i *Interpreter) listThreads(ctx context.Context, g given) (lane.Command, error) {
	all, err := i.others(ctx, g.Session)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return reply("There are no threads yet."), nil
	}
	var said []string
	for _, t := range all[:min(len(all), maxListed)] {
		mark := ""
		if t.ID == g.session.Thread {
			mark = " (this one)"
		}
		said = append(said, "- "+threadLine(t)+mark)
	}
	if more := len(all) - maxListed; more > 0 {
		said = append(said, fmt.Sprintf("and %d more; chela threads list shows all", more))
	}
	return reply(strings.Join(said, "\n")), nil
}

// switchTo is the order that makes another thread the current one: the one with
// an id, or the only one with a title.
func (i *Interpreter) switchTo(ctx context.Context, g given) (lane.Command, error) {
	all, err := i.others(ctx, g.Session)
	if err != nil {
		return nil, err
	}
	meant := slices.DeleteFunc(slices.Clone(all), func(t chela.Thread) bool {
		return string(t.ID) != g.args && !strings.EqualFold(t.Title, g.args)
	})
	switch {
	case len(meant) == 0:
		return nil, chela.E(chela.NotFound, "there is no thread "+Quoted(g.args)+" in this session").WithHint("see /thread list")
	case len(meant) > 1 && string(meant[0].ID) != g.args:
		return nil, chela.E(chela.Invalid, fmt.Sprintf("%d threads are called %s", len(meant), Quoted(g.args))).WithHint("name one by its id, as /thread list shows it")
	}
	return i.goTo(ctx, meant[0]), nil
}

func (i *Interpreter) goTo(ctx context.Context, t chela.Thread) lane.Command {
	return func(w *store.Write, at *store.Arrival) (lane.Outcome, error) {
		at.Session.SwitchTo(t.ID)
		at.Thread = t
		return i.save(ctx, w, at, "You are in thread "+threadLine(t)+".")
	}
}

// resume goes back to the thread that was used before the current one.
func (i *Interpreter) resume(ctx context.Context, g given) (lane.Command, error) {
	if g.args != "" {
		return i.switchTo(ctx, g)
	}
	all, err := i.others(ctx, g.Session)
	if err != nil {
		return nil, err
	}
	n := slices.IndexFunc(all, func(t chela.Thread) bool { return t.ID != g.session.Thread && !isNew(t) })
	if n < 0 {
		return nil, chela.E(chela.NotFound, "no other thread was used in this session").WithHint("see /thread list")
	}
	return i.goTo(ctx, all[n]), nil
}

// stop requests the cancellation of the session's turns. Queued messages stay.
func (i *Interpreter) stop(ctx context.Context, g given) (lane.Command, error) {
	return func(w *store.Write, _ *store.Arrival) (lane.Outcome, error) {
		live, err := w.LiveTurns(ctx, g.Session)
		if err != nil {
			return lane.Outcome{}, err
		}
		stopped := make([]func(context.Context), len(live))
		for n, t := range live {
			if stopped[n], err = i.cfg.Lanes.StopIn(ctx, w, t); err != nil {
				return lane.Outcome{}, err
			}
		}
		text := "Nothing runs in this session."
		if len(live) > 0 {
			text = "The turn is stopped."
		}
		waiting, err := w.CountWaiting(ctx, g.Session)
		if waiting > 0 {
			text += fmt.Sprintf(" %d of the queued messages come next.", waiting)
		}
		return lane.Outcome{Reply: text, Then: func(ctx context.Context) {
			for _, then := range stopped {
				then(ctx)
			}
		}}, err
	}, nil
}
