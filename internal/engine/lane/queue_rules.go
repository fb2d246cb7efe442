package lane

import "chela"

// QueueRules are the configured queue settings of a home.
type QueueRules struct {
	chela.QueueSettings
	Channels map[string]*chela.QueueSettings // by the name of the channel
}

// For resolves the settings of a message in a session completely: its own
// precede its session's, then its channel's, then the home's.
func (r QueueRules) For(in chela.Inbound, session chela.Settings) chela.QueueSettings {
	q := in.Queue.Over(session.Queue)
	if channel := r.Channels[in.Origin.Channel]; channel != nil {
		q = q.Over(*channel)
	}
	return q.Over(r.QueueSettings).Over(chela.DefaultQueue())
}

// Settle resolves the settings of waiting messages of a session in place.
func (r QueueRules) Settle(waiting []chela.InboxMessage, session chela.Settings) {
	for i := range waiting {
		waiting[i].Queue = r.For(waiting[i].Inbound, session)
	}
}
