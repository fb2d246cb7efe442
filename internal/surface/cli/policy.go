package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"chela"
	"chela/internal/api"
	"chela/internal/config"
	"chela/internal/surface/terminal"
)

// policyCommand returns the commands on the policy, which decides about approvals.
func (c *commands) policyCommand() *cobra.Command {
	return terminal.Group("policy", "See which calls need an approval, and why", verb(c, api.PolicyShow, c.policy),
		verb(c, api.PolicyTry, func(v api.PolicyVerdict) {
			c.Fields("verdict", v.Verdict, "reason", v.Reason, "profile", string(v.Profile)+", set by "+v.From, "rules", strings.Join(v.Rules, "; "),
				"effect", v.Effect, "risk", v.Risk, "compared with patterns", strings.Join(v.Subjects, ", "))
		}), c.policyProfile())
}

// policy writes a policy for people.
func (c *commands) policy(p api.Policy) {
	c.Fields("profile", string(p.Profile)+", set by "+p.From, "allows without a question", strings.Join(p.Allows, "; "))
	for _, r := range p.Rules {
		c.Fields("rule", r)
	}
}

// policyProfile shows or sets the profile, of the home or of a session.
func (c *commands) policyProfile() *cobra.Command {
	type arguments struct {
		Profile chela.Profile    `arg:"[PROFILE]" check:"words=|careful|normal|free"`
		Session chela.SessionKey `flag:"session" help:"session key (default: the whole home)"`
	}
	return command(c, "profile", "Show the profile, or set it: careful, normal or free", func(ctx context.Context, b *Backend, in arguments) error {
		if in.Profile == "" {
			return call(c, api.PolicyShow, func(p api.Policy) { c.Line(string(p.Profile)) })(ctx, b, api.PolicyQuery{Session: in.Session})
		}
		if in.Session == "" {
			return c.configEdit(ctx, func(home config.Home) error { return config.Set(home, "profile", string(in.Profile)) })
		}
		_, err := api.Call(ctx, b, api.SessionsChange, api.SessionChange{
			SessionRef: api.SessionRef{Key: in.Session}, Settings: api.SettingsPatch{Profile: &in.Profile},
		})
		return terminal.NotThere(err, "see chela sessions list")
	})
}
