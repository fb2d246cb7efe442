package api

import (
	"slices"

	"chela"
)

// A Trial is the result of testing a model.
type Trial struct {
	Model  string           `json:"model"`  // provider/model
	Checks []Check          `json:"checks"` // one of each, but of key one for each key; in the order in which they were made
	MS     int64            `json:"ms"`     // from the first question to the last answer
	Tokens chela.TokenUsage `json:"tokens"` // of all answers
}

// Passed reports whether no check failed.
func (t Trial) Passed() bool {
	return !slices.ContainsFunc(t.Checks, func(c Check) bool { return c.State == CheckFailed })
}

// Stopped reports whether a check could not be made though none before it failed,
// as where a limit of the home is reached.
func (t Trial) Stopped() bool {
	return slices.ContainsFunc(t.Checks, func(c Check) bool { return c.State == CheckUntried && c.Text != "" })
}

// Check returns the first check of that name.
func (t Trial) Check(name CheckName) Check {
	if i := slices.IndexFunc(t.Checks, func(c Check) bool { return c.Name == name }); i >= 0 {
		return t.Checks[i]
	}
	return Check{Name: name, State: CheckUntried}
}

// A Check is one question that a trial answers.
type Check struct {
	Name  CheckName  `json:"name"`
	Nth   int        `json:"nth,omitempty"` // of which key, from 1, where there are several
	State CheckState `json:"state"`
	Text  string     `json:"text,omitempty"` // why it failed, or was not made
	Cure  string     `json:"cure,omitempty"` // what can be done about that
}

// A CheckName names the question of a check.
type CheckName string

// The checks.
const (
	CheckReachable CheckName = "reachable" // does the provider answer?
	CheckKey       CheckName = "key"       // does it take the key?
	CheckStreams   CheckName = "streams"   // does the model's text come while it is written?
	CheckTools     CheckName = "tools"     // does the model call a tool?
	CheckPrice     CheckName = "price"     // is its price known?
)

// CheckState is the result of a check.
type CheckState string

// The states of a check.
const (
	CheckPassed  CheckState = "passed"
	CheckFailed  CheckState = "failed"
	CheckUntried CheckState = "untried" // one before it failed, or it has a text that says why
)
