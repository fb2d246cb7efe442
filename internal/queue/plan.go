// Package queue decides what becomes of messages that wait in a lane. It is
// pure: the lane looks, asks, and does what it is told.
package queue

import (
	"cmp"

	"chela"
)

// A Decision says which of the messages that wait go on now.
type Decision struct {
	Take  int  // that many from the front become one turn
	Steer bool // some of them enter the running turn
}

// Plan decides what becomes of the messages that wait in a lane, oldest first.
// Mode is what holds for messages that do not say otherwise. While a turn runs,
// messages wait, but for those that steer it. On a free lane the front message
// opens a turn; if it collects, those behind it that also collect, belong to
// the same thread, ask for the same model and are answered at the same place go
// with it, as far as they are no larger together than one message may be. A
// message that offers tools has a turn of its own: they are its sender's to run.
func Plan(mode chela.QueueMode, waiting []chela.Waiting, running bool) Decision {
	if running {
		for _, m := range waiting {
			if modeOf(m, mode) == chela.QueueSteer {
				return Decision{Steer: true}
			}
		}
		return Decision{}
	}
	if len(waiting) == 0 {
		return Decision{}
	}
	first := waiting[0]
	n, size := 1, len(first.Text)
	for n < len(waiting) && size+len(waiting[n].Text) <= chela.MaxMessageBytes && collects(first, mode) && collects(waiting[n], mode) &&
		waiting[n].Thread == first.Thread && waiting[n].Model == first.Model && place(waiting[n]) == place(first) {
		size += len(waiting[n].Text)
		n++
	}
	return Decision{Take: n}
}

// place is where a message is answered, whoever of the owners or of the others
// sent it.
func place(m chela.Waiting) chela.Origin {
	o := m.Origin
	o.Sender = ""
	return o
}

func modeOf(m chela.Waiting, mode chela.QueueMode) chela.QueueMode {
	return cmp.Or(m.Queue.Mode, mode)
}

// collects reports whether a message shares its turn with others. One that was
// to steer a turn that has ended meanwhile does.
func collects(m chela.Waiting, mode chela.QueueMode) bool {
	return modeOf(m, mode) != chela.QueueFollowup && len(m.Offers) == 0
}
