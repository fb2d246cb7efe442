package routine

import (
	"context"
	"fmt"

	"chela"
	"chela/internal/api"
	"chela/internal/config"
	"chela/internal/store"
)

// Examine returns findings about the routines of a home, at least one: the problems
// of those that cannot fire or succeed. It starts the programs that print secrets of
// webhooks.
func Examine(ctx context.Context, s *store.Store, cfg *config.Config, secrets secrets) (found []api.Finding, err error) {
	all, err := store.Find(ctx, s, func(r *store.Read) ([]chela.Routine, error) { return All(ctx, r) })
	if err != nil {
		return nil, err
	}
	own := 0
	for _, v := range all {
		if !v.Builtin {
			own++
		}
		f := problem(v, cfg)
		if f.Text == "" && v.Enabled && v.Trigger.Kind == chela.TriggerWebhook {
			f = secretProblem(ctx, v, secrets)
		}
		if f.Text != "" {
			found = append(found, f)
		}
	}
	if own > 0 && !cfg.Routines.Enabled {
		found = append(found, api.Finding{
			Subject: "routines", Text: fmt.Sprintf("routines.enabled is false: %d fire only manually", own),
			Cure: "chela config set routines.enabled true",
		})
	}
	if len(found) == 0 {
		found = []api.Finding{{Subject: "routines", OK: true, Text: fmt.Sprintf("%d, all of them valid", own)}}
	}
	return found, nil
}

// problem returns the problem of a routine, or a finding without a text.
func problem(v chela.Routine, cfg *config.Config) api.Finding {
	f := api.Finding{Subject: "routines"}
	if !v.Enabled {
		if v.Reason != "" && !v.Builtin {
			f.Text, f.Cure = v.Name+" is off: "+v.Reason, "fix that, then chela routines enable "+v.Name
		}
		return f
	}
	if _, err := cfg.Agent(v.Agent); err != nil {
		f.Text = v.Name + " is of the agent " + v.Agent + ", which no longer exists"
		f.Cure = "add [agents." + v.Agent + "] to config.toml, or chela routines delete " + v.Name
		return f
	}
	if v.Action.Model != "" {
		if _, _, err := cfg.Resolve(v.Action.Model); err != nil {
			f.Text, f.Cure = v.Name+" asks "+v.Action.Model+": "+chela.MessageOf(err), "chela routines edit "+v.Name+" --model PROVIDER/MODEL"
			return f
		}
	}
	return f
}

// secretProblem returns why the secret of a webhook is not available, or a finding
// without a text.
func secretProblem(ctx context.Context, v chela.Routine, secrets secrets) api.Finding {
	err := secrets.Examine(ctx, chela.SecretReference(v.Trigger.Secret))
	if err == nil {
		return api.Finding{}
	}
	f := api.Unwell("routines", err)
	f.Text, f.Cure = v.Name+" has no secret: "+f.Text, f.Cure+"; or chela routines edit "+v.Name+" --secret secret:NAME"
	return f
}
