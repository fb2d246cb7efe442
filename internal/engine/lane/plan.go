package lane

import (
	"time"

	"chela"
)

// A Decision selects waiting messages by index and says how they proceed.
type decision struct {
	Take      []int     // become one turn
	Steer     []int     // enter the running turn
	Stop      bool      // the running turn is stopped for a waiting message
	NotBefore time.Time // debounce: when to decide again, unless more arrive
}

// plan decides what happens to the messages waiting in a lane, oldest first,
// with resolved settings. Running is the turn that blocks them; nil on a free
// lane. The queue mode decides:
//
//	             behind a turn           on a free lane
//	collect      wait                    after the debounce, with adjacent messages of this mode
//	steer        enter it                the same
//	steer-backlog enter it               after the debounce, one by one
//	followup     wait                    after the debounce, one by one
//	queue        wait                    at once, one by one
//	interrupt    stop it                 at once, before all others, together with all that wait
//
// Messages share a turn only if they agree on thread, model, overrides,
// principal and reply address, and together are no larger than one message may
// be. A message with client-side tools has a turn of its own, as only its
// sender can run them, and so has a command.
func plan(waiting []chela.InboxMessage, running *chela.Turn, now time.Time) decision {
	switch {
	case len(waiting) == 0:
		return decision{}
	case running != nil:
		return behind(*running, waiting)
	}
	for i := range waiting {
		if waiting[i].Queue.Mode == chela.QueueInterrupt {
			return decision{Take: around(waiting, i)}
		}
	}
	if at := quiet(waiting, now); now.Before(at) {
		return decision{NotBefore: at}
	}
	return decision{Take: front(waiting)}
}

// behind decides while a turn runs or waits for a person.
func behind(running chela.Turn, waiting []chela.InboxMessage) (d decision) {
	for i := range waiting {
		switch m := &waiting[i]; m.Queue.Mode {
		case chela.QueueInterrupt:
			d.Stop = true
		case chela.QueueSteer, chela.QueueSteerBacklog:
			if enters(m, &running) {
				d.Steer = append(d.Steer, i)
			}
		}
	}
	return d
}

// enters reports whether a message may steer a turn: it belongs to its thread,
// asks for nothing that was fixed when the turn opened, and its sender will see
// the answer. A message older than the turn missed the previous turn and waits
// for its own.
func enters(m *chela.InboxMessage, t *chela.Turn) bool {
	return m.Thread == t.Thread && m.Command == "" && !m.CreatedAt.Before(t.CreatedAt) &&
		(m.Model == "" || m.Model == t.Model) &&
		(m.Overrides == chela.Overrides{} && !shapes(t.Overrides) || m.Overrides == t.Overrides) &&
		m.Origin.Principal(m.Session) == t.Principal() &&
		(m.Origin.ReplyBy == "" || place(m.Origin) == place(t.Origin))
}

// shapes reports whether overrides change the model's answers in a way that
// messages without them did not ask for.
func shapes(o chela.Overrides) bool { return o.Sampling != nil || o.Answer > 0 }

// quiet returns when the front message may become a turn: after its debounce
// time without new messages in its thread, or at once when the cap is reached.
// Messages dated in the future, from a process whose clock is ahead, do not
// extend the wait.
func quiet(waiting []chela.InboxMessage, now time.Time) time.Time {
	first := &waiting[0]
	debounce := first.Queue.Debounce()
	if first.Queue.Mode == chela.QueuePlain || debounce == 0 || len(waiting) >= first.Queue.Cap {
		return time.Time{}
	}
	var newest time.Time
	for i := range waiting {
		if m := &waiting[i]; m.Thread == first.Thread && m.CreatedAt.After(newest) && !m.CreatedAt.After(now) {
			newest = m.CreatedAt
		}
	}
	return newest.Add(debounce)
}

// front returns the indices of the messages that form a turn together with the
// first one.
func front(waiting []chela.InboxMessage) []int {
	first := &waiting[0]
	take, size := append(make([]int, 0, len(waiting)), 0), len(first.Text)
	for i := 1; i < len(waiting) && collects(first) && collects(&waiting[i]) && together(first, &waiting[i]); i++ {
		if size += len(waiting[i].Text); size > chela.MaxMessageBytes {
			break
		}
		take = append(take, i)
	}
	return take
}

// around returns the indices of the messages that form a turn together with an
// interrupting one, regardless of their own modes. After the first message that
// does not fit no later one joins, as size only grows.
func around(waiting []chela.InboxMessage, at int) []int {
	take, size := make([]int, 0, len(waiting)), len(waiting[at].Text)
	for i := range waiting {
		switch {
		case i == at:
			take = append(take, i)
		case together(&waiting[at], &waiting[i]):
			if size += len(waiting[i].Text); size <= chela.MaxMessageBytes {
				take = append(take, i)
			}
		}
	}
	return take
}

// collects reports whether a message shares its turn with its neighbors. A
// steering message whose turn has ended does.
func collects(m *chela.InboxMessage) bool {
	return m.Queue.Mode == chela.QueueCollect || m.Queue.Mode == chela.QueueSteer
}

// together reports whether two messages can share a turn.
func together(a, b *chela.InboxMessage) bool {
	alone := len(a.Offers)+len(b.Offers) > 0 || a.Command != "" || b.Command != ""
	return !alone && a.Thread == b.Thread && a.Model == b.Model && a.Overrides == b.Overrides && place(a.Origin) == place(b.Origin) &&
		a.Origin.Principal(a.Session) == b.Origin.Principal(b.Session)
}

// place returns the reply address of a message, without its sender.
func place(o chela.Origin) chela.Origin {
	o.Sender, o.For = "", ""
	return o.Lasting()
}
