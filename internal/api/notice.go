package api

import "chela"

// NoticeChannel is the channel of notices that clients poll, on the command line and
// over HTTP.
const NoticeChannel = "terminal"

// A NoticeQuery asks for the unread notices after one of them.
type NoticeQuery struct {
	After chela.OutboxID `query:"after" check:"id=out" help:"the id of a notice"`
	Limit int            `query:"limit"`
}

// NoticeIDs names notices that were read.
type NoticeIDs struct {
	IDs []chela.OutboxID `json:"ids" check:"max=1000"`
}

// The operations on notices. An unknown notice counts as read.
var (
	NoticesList = Define[NoticeQuery, Page[chela.Outbound]]("notices.list", "GET /api/notices", chela.ScopeRead,
		"List the unread notices, oldest first")
	NoticesSeen = Define[NoticeIDs, None]("notices.seen", "POST /api/notices/seen", chela.ScopeChat,
		"Mark notices as read")
)
