package api

import "chela"

// Seen is what POST /api/notices/seen takes.
type Seen struct {
	IDs []chela.OutboxID `json:"ids" check:"max=1000"`
}

// NoticeChannel is the channel whose notices are read by whoever looks, on the
// command line and over HTTP.
const NoticeChannel = "terminal"
