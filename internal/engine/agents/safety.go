package agents

import (
	"context"
	"regexp"

	"chela"
	"chela/internal/config"
	"chela/internal/engine/policy"
)

// verdicts are the verdicts of actions about arguments. Other actions change nothing.
var verdicts = map[config.SafetyAction]chela.Verdict{config.SafetyBlock: chela.Deny, config.SafetyAsk: chela.Ask}

func textRule(r config.SafetyRule) policy.TextRule {
	verdict, ok := verdicts[r.Action]
	if !ok {
		verdict = chela.Allow
	}
	return policy.TextRule{
		Name: r.Name, Tool: r.Tool, Agent: r.Agent, Channel: r.Channel, Severity: r.Severity, Verdict: verdict, Reason: r.Reason,
		Match: regexp.MustCompile(r.Match), // the configuration was checked
	}
}

// screen applies the safety rules to the arguments of a call that has not begun, and
// logs the matches when it is first judged.
func (a *Agents) screen(d policy.Decision, q policy.Question, c chela.ToolCall) policy.Decision {
	if len(a.texts) == 0 || c.State != chela.CallRequested && c.State != chela.CallAwaiting {
		return d
	}
	d, matched := policy.Screen(a.texts, d, q, c.Args)
	if c.State == chela.CallRequested {
		for _, r := range matched {
			a.cfg.Log.Log(context.Background(), r.Severity.Level(), "safety rule matched", "rule", r.Name, "severity", string(r.Severity),
				"place", string(config.SafetyArguments), "verdict", string(r.Verdict), "session", string(c.Session), "turn", string(c.Turn), "call", string(c.ID), "tool", c.Tool)
		}
	}
	return d
}
