package routine

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/background/routine/rule"
	"chela/internal/safety"
	"chela/internal/store"
)

// Hook fires the routine of a webhook. It returns the same
// Denied error for a bad signature and for a path without a webhook, so that
// callers cannot probe for paths. A request that does not pass the filter of the
// trigger, or that a hook or a safety rule refuses, does not fire it, and the answer
// says why; so it does for a run that is skipped.
func (d *Routines) Hook(ctx context.Context, asked api.HookRequest) (out api.HookReceipt, _ error) {
	r, body := rule.WebhookRequest(asked), asked.Body
	if len(body) > d.cfg.Defaults.MaxWebhookBytes {
		return out, chela.Ef(chela.Invalid, "the request has %d bytes, and %d are allowed", len(body), d.cfg.Defaults.MaxWebhookBytes)
	}
	v, delivery, err := d.letIn(ctx, asked)
	challenge := challengeOf(v, body)
	switch {
	case err != nil:
		return out, err
	case challenge != "":
		return api.HookReceipt{Challenge: challenge}, nil
	case d.cfg.Defaults.Off:
		return out, chela.E(chela.Unavailable, "routines are off").WithHint("set routines.enabled to true")
	case !v.Enabled:
		return out, chela.Ef(chela.Conflict, "the routine %s is disabled", v.Name).WithHint("enable it: chela routines enable " + v.Name)
	}
	if why := r.Mismatch(v.Trigger); why != "" {
		return api.HookReceipt{Ignored: why}, nil
	}
	run := chela.RoutineRun{Key: "hook/" + d.nameOf(delivery), Cause: chela.TriggerWebhook, Input: r.Input(v.Trigger)}
	switch run.Input, err = d.screened(ctx, v, run); {
	case chela.KindOf(err) == chela.Denied:
		return api.HookReceipt{Ignored: chela.MessageOf(err)}, nil
	case err != nil:
		return out, err
	}
	err = d.write(ctx, "routine.hook", func(c *change) error {
		out = api.HookReceipt{}
		for _, key := range keysOf(delivery) {
			fresh, err := c.SeeCause(ctx, store.RoutineCause{Routine: v.ID, Key: key, At: c.now, Within: maxCause})
			if err != nil {
				return err
			}
			out.Duplicate = out.Duplicate || !fresh
		}
		if out.Duplicate {
			known, _, err := c.RunByKey(ctx, v.ID, run.Key)
			out.Run = known.ID
			return err
		}
		made, err := c.caused(ctx, v.ID, run)
		if out.Run = made.ID; made.State == chela.RunSkipped {
			out.Skipped = made.Reason
		}
		return err
	})
	return out, err
}

// screened returns the input of a run as the hooks and safety rules leave it. They see a
// request once, however often it is delivered.
func (d *Routines) screened(ctx context.Context, v chela.Routine, run chela.RoutineRun) (string, error) {
	known, err := store.Find(ctx, d.store, func(r *store.Read) (bool, error) {
		_, ok, err := r.RunByKey(ctx, v.ID, run.Key)
		return ok, err
	})
	if known || err != nil {
		return run.Input, err
	}
	return d.cfg.Screen(ctx, v, run.Input)
}

// letIn returns the routine at the path of a request and its delivery, if its
// signature proves the secret.
func (d *Routines) letIn(ctx context.Context, asked api.HookRequest) (chela.Routine, safety.Delivery, error) {
	v, err := store.Find(ctx, d.store, func(r *store.Read) (chela.Routine, error) {
		v, _, err := r.RoutineAt(ctx, asked.Path)
		return v, err
	})
	if err != nil {
		return v, safety.Delivery{}, err
	}
	refused := chela.E(chela.Denied, "the webhook request was rejected").WithHint("check its path and its signature")
	var its safety.Verifier
	if v.ID != "" {
		if its, err = d.verifier(ctx, v); err != nil {
			d.cfg.Log.Error("secret of a webhook not found", "routine", v.ID, "name", v.Name, "error", err)
			its.Scheme = ""
		}
	}
	delivery, err := verify(its, asked.Header, asked.Body, d.now())
	if err != nil {
		if v.ID != "" { // requests to unknown paths would fill the log
			d.cfg.Log.Warn("webhook request rejected", "routine", v.ID, "name", v.Name, "error", chela.MessageOf(err))
		}
		return v, delivery, refused.Because(err)
	}
	return v, delivery, nil
}

// verifier returns the verifier of a webhook.
func (d *Routines) verifier(ctx context.Context, v chela.Routine) (safety.Verifier, error) {
	t := v.Trigger
	secret, err := d.cfg.Secrets.Resolve(ctx, chela.SecretReference(t.Secret), "the webhook of routine "+v.Name)
	return safety.Verifier{
		Scheme: safety.Scheme(t.Scheme), Secret: []byte(secret), Header: t.SignatureHeader, Prefix: t.SignaturePrefix, Encoding: t.SignatureEncoding,
	}, err
}

// verify checks a request against its verifier, which has no scheme if the
// webhook does not exist; that is Denied. It also runs every other scheme with
// a dummy secret, so that a refusal takes the same time whether the webhook
// exists or not, and whatever its scheme is.
func verify(its safety.Verifier, header http.Header, body []byte, now time.Time) (delivery safety.Delivery, err error) {
	err = chela.E(chela.Denied, "there is no webhook at this path")
	for _, scheme := range safety.Schemes() {
		if scheme == its.Scheme {
			delivery, err = its.Verify(header, body, now)
			continue
		}
		nobodys := safety.Verifier{Scheme: scheme, Secret: []byte("of a webhook that does not exist")}
		if scheme == safety.SchemeBody {
			nobodys.Header, nobodys.Encoding = "X-Signature", safety.EncodingHex
		}
		_, _ = nobodys.Verify(header, body, now) // constant time: the result does not matter
	}
	return delivery, err
}

// challengeOf returns the reply to Slack's URL verification request; empty for
// any other request.
func challengeOf(v chela.Routine, body []byte) string {
	var asked struct{ Type, Challenge string }
	if safety.Scheme(v.Trigger.Scheme) != safety.SchemeSlack || json.Unmarshal(body, &asked) != nil || asked.Type != "url_verification" {
		return ""
	}
	return asked.Challenge
}

// keysOf returns the idempotency keys of a delivery.
func keysOf(delivery safety.Delivery) (keys []string) {
	if delivery.Key != "" {
		keys = append(keys, "delivery/"+delivery.Key)
	}
	if delivery.Seal != "" && delivery.Seal != delivery.Key {
		keys = append(keys, "seal/"+delivery.Seal)
	}
	return keys
}

// nameOf returns the key of a delivery. A sender that authenticates by the bare
// secret may send no delivery id; then each request is unique.
func (d *Routines) nameOf(delivery safety.Delivery) string {
	if delivery.Key != "" {
		return delivery.Key
	}
	return string(d.cfg.IDs.Request())
}
