package api

import "chela"

// A UsageQuery asks for sums of the spending after a row.
type UsageQuery struct {
	Since string        `query:"since" check:"is=since" help:"the first day where the owner lives, such as 2026-03-01, or a number of days ago such as 30d; the last 30 days without it"`
	By    chela.UsageBy `query:"by" check:"words=day|model|session|routine|purpose" help:"day, model, session, routine or purpose; day and model without it"`
	After string        `query:"after" check:"is=line min=1 max=1024" help:"a row"`
	Limit int           `query:"limit"`
}

// A LimitsQuery asks for limits of the spending after one of them.
type LimitsQuery struct {
	Session chela.SessionKey `query:"session" help:"also those of a session, by its key"`
	After   string           `query:"after" check:"is=line min=1 max=1024" help:"a limit"`
	Limit   int              `query:"limit"`
}

// The operations on the spending.
var (
	UsageSums = Define[UsageQuery, Page[chela.UsageSum]]("usage.sums", "GET /api/usage", chela.ScopeRead,
		"Sum the spending by day and model, or by another key")
	UsageLimits = Define[LimitsQuery, Page[chela.Budget]]("usage.limits", "GET /api/usage/limits", chela.ScopeRead,
		"Show the limits with the rest of each")
)
