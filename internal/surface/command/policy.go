package command

import (
	"context"
	"strings"

	"chela"
	"chela/internal/api"
)

// policy shows the policy of this session, tests a call, or sets the profile. Groups
// see no rules of the owner.
func (g given) policy(ctx context.Context) (string, error) {
	if g.inGroup() {
		return "", chela.E(chela.Denied, "the policy of the owner is not shown in a group").WithHint("use /policy in a direct chat, or chela policy show")
	}
	word, rest := CutWord(g.args)
	rest = strings.TrimSpace(rest)
	q := api.PolicyQuery{Agent: g.session.Agent, Session: g.Session}
	var l lines
	switch strings.ToLower(word) {
	case "", "show":
		p, err := api.Call(ctx, g, api.PolicyShow, q)
		l.add("profile", string(p.Profile)+", set by "+p.From, "allows without a question", strings.Join(p.Allows, "; "))
		for _, r := range p.Rules {
			l.add("rule", r)
		}
		return l.text(), err
	case "test":
		tool, text := CutWord(rest)
		if tool == "" {
			return "", invalid("no tool is named", "write /policy test shell git push, for one")
		}
		v, err := api.Call(ctx, g, api.PolicyTry, api.PolicyTest{Tool: tool, Text: strings.TrimSpace(text), PolicyQuery: q})
		l.add("verdict", v.Verdict, "reason", v.Reason, "profile", string(v.Profile)+", set by "+v.From, "rules", strings.Join(v.Rules, "; "), "risk", v.Risk)
		return l.text(), err
	case "profile":
		p := chela.Profile(strings.ToLower(rest))
		if err := api.OneOf(p, "is not a profile"); err != nil || p == "" {
			return "", invalid(Quoted(rest)+" is not a profile", "use careful, normal or free")
		}
		if p != chela.ProfileCareful && !g.MayElevate() {
			return "", chela.E(chela.Denied, "another profile than careful is taken only from the owner, as typed in a chat on a terminal or on a page with all rights").
				WithHint("type it there, or run chela policy profile " + string(p) + " --session " + string(g.Session))
		}
		g.Caller.Scope = g.Scope
		_, err := api.Call(ctx, g, api.SessionsChange, api.SessionChange{SessionRef: api.SessionRef{Key: g.Session}, Settings: api.SettingsPatch{Profile: &p}})
		return "The profile of this session is " + string(p) + ".", err
	default:
		return "", invalid(Quoted(word)+" is nothing to do with the policy", "write /policy, /policy test TOOL CALL, or /policy profile NAME")
	}
}
