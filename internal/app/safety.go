package app

import (
	"cmp"
	"slices"
	"strings"

	"chela"
	"chela/internal/config"
	"chela/internal/engine/hook"
)

// safetyPoints are the points at which safety rules look at a place. Those about
// arguments are part of the policy.
var safetyPoints = map[config.SafetyPlace]chela.HookPoint{
	config.SafetyMessages: chela.HookBeforeInbound, config.SafetyResults: chela.HookAfterToolCall, config.SafetyAnswers: chela.HookTransform,
}

// safetyOrder is the order in which actions are taken: a text that is blocked needs no
// other, and matches are logged before they are replaced.
var safetyOrder = []config.SafetyAction{config.SafetyBlock, config.SafetyWarn, config.SafetyAllow, config.SafetyRedact}

// safetyHooks returns the safety rules about texts. They come after the hooks of the
// operator, so that they see the text that goes on.
func safetyHooks(rules []config.SafetyRule) (specs []hook.Spec) {
	rules = slices.Clone(rules)
	slices.SortStableFunc(rules, func(a, b config.SafetyRule) int {
		return cmp.Or(slices.Index(safetyOrder, a.Action)-slices.Index(safetyOrder, b.Action), b.Severity.Rank()-a.Severity.Rank())
	})
	for _, r := range rules {
		for _, place := range []config.SafetyPlace{config.SafetyMessages, config.SafetyResults, config.SafetyAnswers} {
			if !r.In(place) {
				continue
			}
			s := hook.Spec{
				Name: r.Name, Point: safetyPoints[place], Agent: r.Agent, Channel: r.Channel, Match: r.Match, Severity: r.Severity, Reason: r.Reason,
				Reject: r.Action == config.SafetyBlock, Replace: "[removed by the safety rule " + strings.ReplaceAll(r.Name, "$", "$$") + "]",
				Watch: r.Action == config.SafetyWarn || r.Action == config.SafetyAllow, Quiet: r.Action == config.SafetyAllow,
			}
			if place == config.SafetyResults {
				s.Tool = r.Tool
			} else if r.Tool != "" {
				continue // a rule for a tool is about its calls
			}
			specs = append(specs, s)
		}
	}
	return specs
}
