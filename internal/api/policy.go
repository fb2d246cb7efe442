package api

import "chela"

// A PolicyQuery asks for the policy of calls: of an agent, and of a session of it.
type PolicyQuery struct {
	Agent   string           `query:"agent" check:"is=name" help:"the agent; main without it"`
	Session chela.SessionKey `query:"session" help:"a session, by its key; the agent's main session without it"`
}

// A Policy is the profile and the rules that decide about calls.
type Policy struct {
	Profile chela.Profile `json:"profile"`
	From    string        `json:"from"`            // who set the profile: the session, the agent, or the settings
	Rules   []string      `json:"rules,omitempty"` // of the settings, in words
	Allows  []string      `json:"allows"`          // the calls that the profile allows without a question, in words
}

// A PolicyTest asks for the verdict of the policy on a call.
type PolicyTest struct {
	Tool string `query:"tool,required" arg:"TOOL" check:"is=name" help:"the name of the tool"`
	Text string `query:"text" arg:"CALL..." check:"max=10000" help:"the arguments: a command, a path, GET URL, or JSON"`
	PolicyQuery
	Profile chela.Profile `query:"profile" help:"a profile; that of the session without it"`
}

// A PolicyVerdict is the verdict of the policy on a call, with its reasons.
type PolicyVerdict struct {
	Verdict  chela.Verdict `json:"verdict"`
	Reason   string        `json:"reason"`
	Profile  chela.Profile `json:"profile"`
	From     string        `json:"from"`            // who set the profile
	Rules    []string      `json:"rules,omitempty"` // that match the call, in words
	Effect   chela.Effect  `json:"effect"`
	Risk     string        `json:"risk,omitempty"`
	Subjects []string      `json:"subjects,omitempty"`
}

// The operations on the policy. An agent or a tool that does not exist is NotFound, and
// arguments that do not fit the schema of the tool are Invalid. A test runs nothing.
var (
	PolicyShow = Define[PolicyQuery, Policy]("policy.show", "GET /api/policy", chela.ScopeRead,
		"Show the profile and the rules that decide about calls")
	PolicyTry = Define[PolicyTest, PolicyVerdict]("policy.test", "GET /api/policy/test", chela.ScopeRead,
		"Say whether a call is allowed, asked about or denied, and why")
)
