package queue

import (
	"time"

	"chela"
)

// A Decision says which of the messages that wait go on now, by their places.
type Decision struct {
	Take      []int     // become one turn
	Steer     []int     // enter the running turn
	Stop      bool      // the running turn is stopped for one of them
	NotBefore time.Time // none go on before then, unless more come
}

// Plan decides what becomes of the messages that wait in a lane, oldest first,
// whose settings were settled. Running is the turn that they wait behind; nil on
// a free lane. What they ask for decides:
//
//	             behind a turn           on a free lane
//	collect      wait                    after the debounce, with their neighbours that collect
//	steer        enter it                the same
//	steer-backlog enter it               after the debounce, one by one
//	followup     wait                    after the debounce, one by one
//	queue        wait                    at once, one by one
//	interrupt    stop it                 at once, before all others, with whatever waits
//
// Messages share a turn only if that makes no difference to them: in the same
// thread, by the same model, under the same overrides, answered at the same
// place, and no larger together than one message may be. One that offers tools
// has a turn of its own, as they are its sender's to run, and so has a command.
func Plan(waiting []chela.Waiting, running *chela.Turn, now time.Time) Decision {
	switch {
	case len(waiting) == 0:
		return Decision{}
	case running != nil:
		return behind(*running, waiting)
	}
	for i := range waiting {
		if waiting[i].Queue.Mode == chela.QueueInterrupt {
			return Decision{Take: around(waiting, i)}
		}
	}
	if at := quiet(waiting, now); now.Before(at) {
		return Decision{NotBefore: at}
	}
	return Decision{Take: front(waiting)}
}

// behind decides while a turn runs, or waits for a person.
func behind(running chela.Turn, waiting []chela.Waiting) (d Decision) {
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
// wants nothing that was settled when the turn opened, and will see the answer.
// One that waited already then was too late for the turn before, and this one
// began without it.
func enters(m *chela.Waiting, t *chela.Turn) bool {
	return m.Thread == t.Thread && m.Command == "" && !m.CreatedAt.Before(t.CreatedAt) &&
		(m.Model == "" || m.Model == t.Model) &&
		(m.Overrides == chela.Overrides{} || m.Overrides == t.Overrides) &&
		(m.Origin.ReplyBy == "" || place(m.Origin) == place(t.Origin))
}

// quiet returns when the front message may become a turn: once nothing has come
// in its thread for as long as its settings say, but at once when as many wait
// as may. A message that seems to come from the future, since the clock of the
// process that accepted it is ahead, is not waited for.
func quiet(waiting []chela.Waiting, now time.Time) time.Time {
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

// front returns the places of the messages that become a turn together with the
// first one.
func front(waiting []chela.Waiting) []int {
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

// around returns the places of the messages that become a turn together with an
// interrupting one, whatever else was to become of them.
func around(waiting []chela.Waiting, at int) []int {
	take, size := make([]int, 0, len(waiting)), len(waiting[at].Text)
	full := false
	for i := range waiting {
		switch {
		case i == at:
			take = append(take, i)
		case !full && together(&waiting[at], &waiting[i]):
			if size += len(waiting[i].Text); size > chela.MaxMessageBytes {
				full = true
				continue
			}
			take = append(take, i)
		}
	}
	return take
}

// collects reports whether a message shares its turn with its neighbours. One
// that was to steer a turn that has ended meanwhile does.
func collects(m *chela.Waiting) bool {
	return m.Queue.Mode == chela.QueueCollect || m.Queue.Mode == chela.QueueSteer
}

// together reports whether two messages can share a turn.
func together(a, b *chela.Waiting) bool {
	alone := len(a.Offers)+len(b.Offers) > 0 || a.Command != "" || b.Command != ""
	return !alone && a.Thread == b.Thread && a.Model == b.Model && a.Overrides == b.Overrides && place(a.Origin) == place(b.Origin)
}

// place is where a message is answered, whoever of the owners or of the others
// sent it.
func place(o chela.Origin) chela.Origin {
	o.Sender = ""
	return o
}
