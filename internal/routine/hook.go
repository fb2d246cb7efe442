package routine

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"chela"
	"chela/internal/signature"
	"chela/internal/store"
)

// A Hooked is what became of a request to a webhook.
type Hooked struct {
	Run   chela.RunID
	Again bool // it was taken before; Run is the one that it began then, as far as it is kept

	// Challenge is what Slack wants to hear back when it only asks whether
	// somebody listens. Nothing fires then.
	Challenge string
}

// Hook lets the routine fire that a request to /hooks/path makes fire. Whoever does not
// know the secret is Denied, and so is a request to a path where no routine is:
// who asks learns no more than that.
func (d *Desk) Hook(ctx context.Context, path string, header http.Header, body []byte) (Hooked, error) {
	if len(body) > d.cfg.Defaults.MaxWebhookBytes {
		return Hooked{}, chela.E(chela.Invalid, fmt.Sprintf("the request has %d bytes, and %d are allowed", len(body), d.cfg.Defaults.MaxWebhookBytes))
	}
	v, delivery, err := d.letIn(ctx, path, header, body)
	challenge := challengeOf(v, body)
	switch {
	case err != nil:
		return Hooked{}, err
	case challenge != "":
		return Hooked{Challenge: challenge}, nil
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
	its := signature.Verifier{Scheme: signature.Scheme(v.Trigger.Scheme)}
	if v.ID != "" {
		if its.Secret, err = d.cfg.Secret(v.Trigger.Secret); err != nil {
			d.cfg.Log.Error("a webhook has lost its secret", "routine", v.ID, "name", v.Name, "error", err)
			its.Scheme = ""
		}
	}
	delivery, err := verify(its, header, body, d.now())
	if err != nil {
		if v.ID != "" { // what is sent elsewhere would fill the log
			d.cfg.Log.Warn("request to a webhook refused", "routine", v.ID, "name", v.Name, "error", chela.MessageOf(err))
		}
		return v, delivery, refused.Because(err)
	}
	return v, delivery, nil
}

// schemes are all ways in which a request may be signed.
var schemes = [...]signature.Scheme{
	signature.SchemeSecret, signature.SchemeHMAC, signature.SchemeGitHub, signature.SchemeStripe, signature.SchemeSlack,
}

// verify holds a request against its verifier, which has no scheme where there is no
// webhook: that is Denied. Every other scheme is tried as well, with a secret that
// nobody has: so a refusal takes the same time whether there is a webhook or not, and
// whatever scheme it has.
func verify(its signature.Verifier, header http.Header, body []byte, now time.Time) (delivery signature.Delivery, err error) {
	err = chela.E(chela.Denied, "there is no webhook at this path")
	for _, scheme := range schemes {
		if scheme == its.Scheme {
			delivery, err = its.Verify(header, body, now)
			continue
		}
		nobodys := signature.Verifier{Scheme: scheme, Secret: []byte("of a webhook that does not exist")}
		_, _ = nobodys.Verify(header, body, now) // for the time that it takes
	}
	return delivery, err
}

// challengeOf returns what Slack wants to hear back when it asks whether somebody
// listens at the address of a webhook; empty for any other request.
func challengeOf(v chela.Routine, body []byte) string {
	var asked struct{ Type, Challenge string }
	if signature.Scheme(v.Trigger.Scheme) != signature.SchemeSlack || json.Unmarshal(body, &asked) != nil || asked.Type != "url_verification" {
		return ""
	}
	return asked.Challenge
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
