package queue

import "chela"

// Rules are what a home says of how messages wait.
type Rules struct {
	Home     chela.QueueSettings
	Channels map[string]*chela.QueueSettings // by the name of the channel
}

// For returns the settings that hold for a message of a session, with nothing
// left open: its own go before its session's, then its channel's, then the
// home's.
func (r Rules) For(in chela.Inbound, session chela.Settings) chela.QueueSettings {
	q := in.Queue.Over(session.Queue)
	if channel := r.Channels[in.Origin.Channel]; channel != nil {
		q = q.Over(*channel)
	}
	return q.Over(r.Home).Over(chela.DefaultQueue())
}

// Settle puts the settings that hold for them into messages of a session.
func (r Rules) Settle(waiting []chela.Waiting, session chela.Settings) {
	for i := range waiting {
		waiting[i].Queue = r.For(waiting[i].Inbound, session)
	}
}
