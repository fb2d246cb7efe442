package routine

import (
	"context"
	"fmt"
	"time"

	"chela"
	"chela/internal/routine/rule"
	"chela/internal/signature"
)

// Create adds a routine and returns it as it is kept: with an id and the time at
// which it is due first. What cannot work is an Invalid error, a name that another
// one has a Conflict. By says who wants it.
func (d *Desk) Create(ctx context.Context, v chela.Routine, by string) (chela.Routine, error) {
	now := d.now()
	v.ID, v.Version, v.CreatedAt, v.UpdatedAt, v.DeletedAt = d.cfg.IDs.Routine(), 1, now, now, time.Time{}
	v.LastAt, v.Failures, v.Reason = time.Time{}, 0, ""
	if v.Agent == "" {
		v.Agent = chela.MainAgent
	}
	if err := d.settle(&v, now); err != nil {
		return v, err
	}
	err := d.write(ctx, "routine.create", func(c *change) error {
		if err := c.AddRoutine(ctx, v); err != nil {
			return err
		}
		return c.await(ctx, v)
	})
	if err == nil {
		d.cfg.Log.Info("routine created", "routine", v.ID, "name", v.Name, "by", by)
	}
	return v, err
}

// settle checks a routine and computes when it is due first after now.
func (d *Desk) settle(v *chela.Routine, now time.Time) error {
	v.Trigger.At, v.Trigger.Anchor = rule.Stored(v.Trigger.At), rule.Stored(v.Trigger.Anchor)
	if v.Trigger.Kind == chela.TriggerEvery && v.Trigger.Anchor.IsZero() {
		v.Trigger.Anchor = now.Truncate(time.Second)
	}
	if err := d.check(*v); err != nil {
		return err
	}
	v.NextAt = time.Time{}
	if !v.Enabled {
		return nil
	}
	s, err := rule.Times(v.Trigger, d.cfg.Zone)
	if err != nil {
		return err
	}
	v.NextAt = rule.First(s, now)
	if rule.Timed(v.Trigger.Kind) && v.NextAt.IsZero() {
		return chela.E(chela.Invalid, "the routine would never fire: its time is over").WithHint("choose a time that is to come")
	}
	return nil
}

// check returns an Invalid error that says what is wrong with a routine in this
// home.
func (d *Desk) check(v chela.Routine) error {
	if err := rule.Check(v, d.cfg.Zone); err != nil {
		return err
	}
	if err := d.cfg.Agent(v.Agent); err != nil || v.Trigger.Kind != chela.TriggerWebhook {
		return err
	}
	secret, err := d.cfg.Secret(v.Trigger.Secret)
	if err != nil {
		return err
	}
	return signature.Verifier{Scheme: signature.Scheme(v.Trigger.Scheme), Secret: secret}.Check()
}

// A Change says what of a routine is to be otherwise; what is nil stays as it is.
type Change struct {
	Name           *string              `json:"name,omitempty"`
	Description    *string              `json:"description,omitempty"`
	Agent          *string              `json:"agent,omitempty"`
	Enabled        *bool                `json:"enabled,omitempty"`
	Trigger        *chela.Trigger       `json:"trigger,omitempty"`
	Action         *chela.RoutineAction `json:"action,omitempty"`
	Guards         *chela.RoutineGuards `json:"guards,omitempty"`
	Notify         *chela.RoutineNotify `json:"notify,omitempty"`
	DeleteAfterRun *bool                `json:"delete_after_run,omitempty"`
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// Update changes a routine. A new trigger counts from now on, and one that is enabled
// again begins anew: what was due meanwhile is not made up for. One that cannot work any
// more can still be turned off, called and described otherwise. Of a builtin one the
// configuration says what it is; only whether it is enabled can be changed.
func (d *Desk) Update(ctx context.Context, id chela.RoutineID, c Change, by string) (chela.Routine, error) {
	return d.alter(ctx, id, by, func(v *chela.Routine, now time.Time) error {
		was := v.Enabled
		if v.Builtin && (c != Change{Enabled: c.Enabled}) {
			return chela.E(chela.Denied, fmt.Sprintf("the routine %s is kept as the configuration says", v.Name)).
				WithHint("change it in config.toml: chela config list shows its keys")
		}
		set(&v.Name, c.Name)
		set(&v.Description, c.Description)
		set(&v.Agent, c.Agent)
		set(&v.Enabled, c.Enabled)
		set(&v.Trigger, c.Trigger)
		set(&v.Action, c.Action)
		set(&v.Guards, c.Guards)
		set(&v.Notify, c.Notify)
		set(&v.DeleteAfterRun, c.DeleteAfterRun)
		if c == (Change{Name: c.Name, Description: c.Description, Enabled: c.Enabled}) && (was || !v.Enabled) {
			if !v.Enabled {
				v.NextAt = time.Time{}
			}
			return rule.CheckName(*v)
		}
		if c.Trigger == nil && v.Enabled == was {
			next := v.NextAt
			off := *v
			off.Enabled = false // its time does not change, and may be over
			err := d.settle(&off, now)
			v.NextAt = next
			return err
		}
		if v.Enabled && !was {
			v.Failures, v.Reason = 0, ""
		}
		return d.settle(v, now)
	})
}

// offByConfig is why a builtin routine is disabled that the configuration turns off.
const offByConfig = "turned off in the configuration"

// Keep makes a builtin routine what it is to be, by its name, and adds it if there is
// none. What became of it so far stays, and also that somebody disabled it; one that
// is not to be enabled is disabled until it is.
func (d *Desk) Keep(ctx context.Context, v chela.Routine) (chela.Routine, error) {
	have, err := d.Routine(ctx, v.Name)
	v.Builtin = true
	if !v.Enabled {
		v.Reason = offByConfig
	}
	if chela.KindOf(err) == chela.NotFound {
		return d.Create(ctx, v, "chela")
	}
	if err != nil {
		return have, err
	}
	return d.alter(ctx, have.ID, "chela", func(h *chela.Routine, now time.Time) error {
		was := h.Trigger
		h.Description, h.Agent, h.Builtin, h.Trigger, h.Action = v.Description, v.Agent, true, v.Trigger, v.Action
		h.Guards, h.Notify, h.Origin = v.Guards, v.Notify, v.Origin
		if h.Reason == offByConfig || !v.Enabled {
			h.Enabled, h.Reason = v.Enabled, v.Reason
		}
		if h.Trigger.Kind == chela.TriggerEvery && h.Trigger.Anchor.IsZero() && h.Trigger.Every == was.Every {
			h.Trigger.Anchor = was.Anchor
		}
		if !h.Enabled { // also one of an agent that is gone
			h.NextAt = time.Time{}
			return nil
		}
		next := h.NextAt
		if err := d.settle(h, now); err != nil {
			return err
		}
		if sameTimes(h.Trigger, was) && !next.IsZero() {
			h.NextAt = next // what was due meanwhile is looked at
		}
		return nil
	})
}

func sameTimes(a, b chela.Trigger) bool {
	return a.Kind == b.Kind && a.Every == b.Every && a.Anchor.Equal(b.Anchor) && a.Cron == b.Cron && a.Zone == b.Zone && a.At.Equal(b.At)
}

// Enable lets a routine fire.
func (d *Desk) Enable(ctx context.Context, id chela.RoutineID, by string) (chela.Routine, error) {
	yes := true
	return d.Update(ctx, id, Change{Enabled: &yes}, by)
}

// Disable lets a routine fire no more but by hand. Runs that are running go on.
func (d *Desk) Disable(ctx context.Context, id chela.RoutineID, by string) (chela.Routine, error) {
	no := false
	return d.Update(ctx, id, Change{Enabled: &no}, by)
}

// Delete takes a routine away; its runs stay readable. Those that wait are skipped,
// those that are running go on. A builtin one is Denied: it can be disabled.
func (d *Desk) Delete(ctx context.Context, id chela.RoutineID, by string) error {
	_, err := d.alter(ctx, id, by, func(v *chela.Routine, now time.Time) error {
		if v.Builtin {
			return chela.E(chela.Denied, fmt.Sprintf("the routine %s comes with chela and cannot be deleted", v.Name)).WithHint("disable it instead")
		}
		v.Enabled, v.NextAt, v.DeletedAt = false, time.Time{}, now
		return nil
	})
	return err
}

// alter reads a routine, changes it and stores it.
func (d *Desk) alter(ctx context.Context, id chela.RoutineID, by string, how func(v *chela.Routine, now time.Time) error) (v chela.Routine, err error) {
	err = d.write(ctx, "routine.change", func(c *change) error {
		if v, err = c.LockRoutine(ctx, id); err != nil {
			return err
		}
		if !v.DeletedAt.IsZero() {
			return chela.E(chela.NotFound, fmt.Sprintf("the routine %s was deleted", v.Name))
		}
		if err := how(&v, c.now); err != nil {
			return err
		}
		if err := c.unique(ctx, v); err != nil {
			return err
		}
		v.Version++
		v.UpdatedAt = c.now
		if err := c.SaveRoutine(ctx, v); err != nil {
			return err
		}
		return c.await(ctx, v)
	})
	if err == nil {
		d.cfg.Log.Info("routine changed", "routine", v.ID, "name", v.Name, "by", by)
	}
	return v, err
}

// unique returns a Conflict if another routine has the name or the path of v.
func (c *change) unique(ctx context.Context, v chela.Routine) error {
	named, ok, err := c.RoutineNamed(ctx, v.Name)
	if err == nil && ok && named.ID != v.ID {
		err = chela.E(chela.Conflict, fmt.Sprintf("there is a routine named %s already", v.Name)).WithHint("choose another name")
	}
	if err != nil || v.Trigger.Path == "" {
		return err
	}
	at, ok, err := c.RoutineAt(ctx, v.Trigger.Path)
	if err == nil && ok && at.ID != v.ID {
		err = chela.E(chela.Conflict, fmt.Sprintf("the routine %s is at /hooks/%s already", at.Name, v.Trigger.Path)).WithHint("choose another path")
	}
	return err
}
