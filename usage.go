package chela

import "time"

// TokenUsage counts the tokens of one model call, as the provider reports
// them. Input counts what was not read from a cache.
type TokenUsage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"` // reasoning included
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	Reasoning  int64 `json:"reasoning,omitempty"`
}

// Total returns all tokens that were read and written.
func (u TokenUsage) Total() int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// A Usage is one row of the ledger: one model call.
type Usage struct {
	ID        UsageID    `json:"id"`
	Session   SessionKey `json:"session"`
	Turn      TurnID     `json:"turn"`
	Step      int        `json:"step"`
	Model     string     `json:"model"` // provider/model
	Purpose   string     `json:"purpose"`
	Tokens    TokenUsage `json:"tokens"`
	CreatedAt time.Time  `json:"created_at"`
}

// A UsageSum is what was spent on one model on one day, in UTC.
type UsageSum struct {
	Day    string     `json:"day"` // as 2006-01-02
	Model  string     `json:"model"`
	Calls  int        `json:"calls"`
	Tokens TokenUsage `json:"tokens"`
}
