package chela

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

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

// MicroUSD is an amount of money in millionths of a US dollar.
type MicroUSD int64

// USD is one US dollar.
const USD MicroUSD = 1_000_000

// ParseUSD reads an amount in dollars, such as "3" or "0.075", exactly: digits
// with at most six behind the point. Anything else is an Invalid error.
func ParseUSD(text string) (MicroUSD, error) {
	whole, part, _ := strings.Cut(text, ".")
	digits := whole + part + strings.Repeat("0", max(0, 6-len(part)))
	var m MicroUSD
	for _, d := range digits {
		if d < '0' || d > '9' {
			m = -1
			break
		}
		m = 10*m + MicroUSD(d-'0')
	}
	if whole == "" || len(whole) > 9 || len(part) > 6 || strings.HasSuffix(text, ".") || m < 0 {
		return 0, E(Invalid, fmt.Sprintf("%q is no amount in dollars", text)).WithHint(`write one such as 3 or 0.075, with at most six digits behind the point`)
	}
	return m, nil
}

// String returns the amount in dollars, exactly, with two digits behind the
// point or as many more as it needs: "$3.00", "$0.0042".
func (m MicroUSD) String() string {
	sign, n := "", m
	if n < 0 {
		sign, n = "-", -n
	}
	part := fmt.Sprintf("%06d", n%USD)
	return fmt.Sprintf("%s$%d.%s%s", sign, n/USD, part[:2], strings.TrimRight(part[2:], "0"))
}

// Rates are what a model takes for a million tokens of each category.
type Rates struct {
	Input      MicroUSD `json:"input"`
	Output     MicroUSD `json:"output"` // reasoning included
	CacheRead  MicroUSD `json:"cache_read,omitempty"`
	CacheWrite MicroUSD `json:"cache_write,omitempty"`
}

// cost returns what tokens cost, in millionths of a MicroUSD; no more than mostCost.
func (r Rates) cost(u TokenUsage) (sum int64) {
	for _, c := range [...]struct {
		rate   MicroUSD
		tokens int64
	}{{r.Input, u.Input}, {r.Output, u.Output}, {r.CacheRead, u.CacheRead}, {r.CacheWrite, u.CacheWrite}} {
		if c.tokens > 0 && int64(c.rate) > (mostCost-sum)/c.tokens {
			return mostCost
		}
		sum += int64(c.rate) * c.tokens
	}
	return sum
}

// mostCost keeps sums of a million calls within an int64: $1,000,000 for one.
const mostCost = 1_000_000 * int64(USD) * 1_000_000

// A Price is what a model takes. The zero price is that of a model which costs
// nothing, such as one on one's own machine.
type Price struct {
	Rates

	// LongFrom is the number of prompt tokens from which on the whole call costs
	// the Long rates; 0 if the price does not depend on that.
	LongFrom int64 `json:"long_from,omitempty"`
	Long     Rates `json:"long,omitzero"`
}

// Cost returns what a model call costs, rounded up; at most $1,000,000.
func (p Price) Cost(u TokenUsage) MicroUSD {
	rates := p.Rates
	if p.LongFrom > 0 && u.Input+u.CacheRead+u.CacheWrite >= p.LongFrom {
		rates = p.Long
	}
	return MicroUSD((rates.cost(u) + 999_999) / 1_000_000)
}

// A Payer is on whose account a model call goes. What does not apply is empty.
type Payer struct {
	Session SessionKey `json:"session"`
	Turn    TurnID     `json:"turn,omitempty"`
	Step    int        `json:"step,omitempty"` // of the turn
	Job     JobID      `json:"job,omitempty"`
	Routine RoutineID  `json:"routine,omitempty"`
	Purpose string     `json:"purpose"` // such as "turn" or "compaction"
}

// Key returns whose limit of a kind a call falls under: the session's for
// LimitSession, and so on; empty for those of the home, and where there is none.
func (p Payer) Key(l Limit) string {
	switch l {
	case LimitSession:
		return string(p.Session)
	case LimitTurn:
		return string(p.Turn)
	case LimitJob:
		return string(p.Job)
	case LimitRoutine:
		return string(p.Routine)
	default:
		return ""
	}
}

// UsageState says how far a row of the ledger is.
type UsageState string

// The states of a row of the ledger. The last three are endings.
const (
	UsageReserved UsageState = "reserved" // the call may be under way; Cost is the most that it can cost
	UsageSettled  UsageState = "settled"  // the answer is in the journal; Cost is what it cost
	UsageReleased UsageState = "released" // the call was refused or never made; it cost nothing
	UsageLost     UsageState = "lost"     // its answer is not known, or not whole, and may have to be paid; Cost is the most that it can be, or a guess where nothing was reserved
)

var usageMoves = map[UsageState][]UsageState{
	UsageReserved: {UsageSettled, UsageReleased, UsageLost},
}

// CanMove reports whether a row of the ledger may go from one state to another.
func (s UsageState) CanMove(to UsageState) bool { return canMove(usageMoves, s, to) }

// A Usage is one row of the ledger: one model call.
type Usage struct {
	ID UsageID `json:"id"`
	Payer
	Model     string     `json:"model"` // provider/model that answered, or is asked
	State     UsageState `json:"state"`
	Tokens    TokenUsage `json:"tokens"`
	Cost      MicroUSD   `json:"cost"`
	Guessed   bool       `json:"guessed,omitempty"` // the price of the model is not known, or how much it said
	Node      NodeID     `json:"node,omitempty"`    // the process that reserved it; empty if nothing was reserved
	CreatedAt time.Time  `json:"created_at"`
}

// A Charge is what the ledger says of an answer, for the row that settles it.
// The zero charge is of a call that no ledger saw, or of an answer from a cache.
type Charge struct {
	ID      UsageID  // of the reservation; empty if there was none
	Node    NodeID   // the process that reserved; as ID
	Model   string   // provider/model that answered
	Cost    MicroUSD // by the price of that model
	Guessed bool     // its price is not known, or how much it said

	// Tokens are about what the call took, where it costs something and the server
	// did not count.
	Tokens TokenUsage
}

// Settle returns the row of an answer that settles the charge.
func (c Charge) Settle(p Payer, tokens TokenUsage, now time.Time) Usage {
	if tokens.Total() == 0 {
		tokens = c.Tokens
	}
	return Usage{
		ID: c.ID, Payer: p, Model: c.Model, State: UsageSettled, Tokens: tokens, Cost: c.Cost, Guessed: c.Guessed, Node: c.Node, CreatedAt: now,
	}
}

// A UsageSum is what was spent on one model on one day, or on whatever else sums
// were asked for.
type UsageSum struct {
	Day     string     `json:"day,omitempty"` // as 2006-01-02, where the owner lives
	Model   string     `json:"model,omitempty"`
	Session SessionKey `json:"session,omitempty"`
	Routine RoutineID  `json:"routine,omitempty"` // with the jobs that its runs made
	Purpose string     `json:"purpose,omitempty"`

	RoutineName string `json:"routine_name,omitempty"`

	Calls  int        `json:"calls"`
	Tokens TokenUsage `json:"tokens"`
	Cost   MicroUSD   `json:"cost"` // of the calls that ended

	Guessed  MicroUSD `json:"guessed,omitempty"`  // what of Cost is not known for sure
	Reserved MicroUSD `json:"reserved,omitempty"` // beside Cost, for calls that are under way
}

// Name returns what the sum is for, beside the day: a model, a session, a routine
// or a purpose.
func (u UsageSum) Name() string {
	return cmp.Or(u.Model, string(u.Session), u.RoutineName, string(u.Routine), u.Purpose)
}

// Plus returns u with what was spent in other added.
func (u UsageSum) Plus(other UsageSum) UsageSum {
	u.Calls += other.Calls
	u.Cost += other.Cost
	u.Guessed += other.Guessed
	u.Reserved += other.Reserved
	u.Tokens.Input += other.Tokens.Input
	u.Tokens.Output += other.Tokens.Output
	u.Tokens.CacheRead += other.Tokens.CacheRead
	u.Tokens.CacheWrite += other.Tokens.CacheWrite
	u.Tokens.Reasoning += other.Tokens.Reasoning
	return u
}

// UsageBy says what sums of the ledger are for.
type UsageBy string

// What sums can be for.
const (
	UsageByDayModel UsageBy = ""
	UsageByDay      UsageBy = "day"
	UsageByModel    UsageBy = "model"
	UsageBySession  UsageBy = "session"
	UsageByRoutine  UsageBy = "routine"
	UsageByPurpose  UsageBy = "purpose"
)

// A Budget is a limit and what is left of it: MicroUSD, or calls where the limit
// is of actions.
type Budget struct {
	Limit    Limit     `json:"limit"`
	Key      string    `json:"key,omitempty"` // the session, turn, job or routine that it is of; empty for the home
	Most     int64     `json:"most"`
	Spent    int64     `json:"spent"`
	Reserved int64     `json:"reserved"`        // for calls that are under way
	Since    time.Time `json:"since,omitzero"`  // when it began anew
	Resets   time.Time `json:"resets,omitzero"` // when it begins anew; zero for never
}

// Left returns what may still be spent.
func (b Budget) Left() int64 { return max(b.Most-b.Spent-b.Reserved, 0) }
