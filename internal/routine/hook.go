package routine

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"chela"
	"chela/internal/signature"
	"chela/internal/store"
)

// A Hooked is what became of a request to a webhook.
type Hooked struct {
	Run   chela.RunID
	Again bool // it was taken before; Run is the one that it began then, as far as it is kept
}

// Hook lets the routine fire that a request to /hooks/path makes fire. Whoever does not
// know the secret is Denied, and so is a request to a path where no routine is:
// who asks learns no more than that.
func (d *Desk) Hook(ctx context.Context, path string, header http.Header, body []byte) (Hooked, error) {
	if len(body) > d.cfg.Defaults.MaxWebhookBytes {
		return Hooked{}, chela.E(chela.Invalid, fmt.Sprintf("the request has %d bytes, and %d are allowed", len(body), d.cfg.Defaults.MaxWebhookBytes))
	}
	v, delivery, err := d.letIn(ctx, path, header, body)
	switch {
	case err != nil:
		return Hooked{}, err
	case d.cfg.Defaults.Off:
		return Hooked{}, chela.E(chela.Unavailable, "routines are off").WithHint("set routines.enabled to true")
	case !v.Enabled:
		return Hooked{}, chela.E(chela.Conflict, fmt.Sprintf("the routine %s is disabled", v.Name)).WithHint("enable it: chela routines enable " + v.Name)
	}
	run := chela.RoutineRun{Key: "hook/" + d.nameOf(delivery), Cause: chela.TriggerWebhook, Input: strings.ToValidUTF8(string(body), "\ufffd")}
	var out Hooked
	err = d.write(ctx, "routine.hook", func(c *change) error {
		out = Hooked{}
		for _, key := range keysOf(delivery) {
			fresh, err := c.SeeCause(ctx, store.RoutineCause{Routine: v.ID, Key: key, At: c.now, Within: maxCause})
			if err != nil {
				return err
			}
			out.Again = out.Again || !fresh
		}
		if out.Again {
			known, _, err := c.RunByKey(ctx, v.ID, run.Key)
			out.Run = known.ID
			return err
		}
		made, err := c.caused(ctx, v.ID, run)
		out.Run = made.ID
		return err
	})
	return out, err
}

// letIn returns the routine at a path and the delivery that a request is, if it shows
// that it comes from who knows the secret.
func (d *Desk) letIn(ctx context.Context, path string, header http.Header, body []byte) (chela.Routine, signature.Delivery, error) {
	v, err := store.Find(ctx, d.store, func(r *store.Read) (chela.Routine, error) {
		v, _, err := r.RoutineAt(ctx, path)
		return v, err
	})
	if err != nil {
		return v, signature.Delivery{}, err
	}
	refused := chela.E(chela.Denied, "no webhook takes this request").WithHint("look at its path, and at how it is signed")
	verifier := signature.Verifier{Scheme: signature.SchemeHMAC, Secret: []byte("of a webhook that does not exist")}
	if v.ID != "" {
		verifier.Scheme = signature.Scheme(v.Trigger.Scheme)
		if verifier.Secret, err = d.cfg.Secret(v.Trigger.Secret); err != nil {
			return v, signature.Delivery{}, fmt.Errorf("secret of routine %s: %w", v.Name, err)
		}
	}
	delivery, err := verifier.Verify(header, body, d.now())
	if err != nil || v.ID == "" {
		return v, delivery, refused.Because(err)
	}
	return v, delivery, nil
}

// keysOf returns by what a delivery is known when it comes again.
func keysOf(delivery signature.Delivery) (keys []string) {
	if delivery.Key != "" {
		keys = append(keys, "delivery/"+delivery.Key)
	}
	if delivery.Seal != "" && delivery.Seal != delivery.Key {
		keys = append(keys, "seal/"+delivery.Seal)
	}
	return keys
}

// nameOf names a delivery. A sender that proves itself by the secret alone may give
// it no name; then each request is one of its own.
func (d *Desk) nameOf(delivery signature.Delivery) string {
	if delivery.Key != "" {
		return delivery.Key
	}
	return string(d.cfg.IDs.Request())
}
