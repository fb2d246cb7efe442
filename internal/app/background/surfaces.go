package background

import (
	"context"
	"net/http"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/cli/routines"
	"chela/internal/client"
	command "chela/internal/command/routines"
	gateway "chela/internal/gateway/routines"
	"chela/internal/routine"
)

// lookTime is between looks whether a run has ended that somebody waits for.
const lookTime = 100 * time.Millisecond

// nextName cannot name a routine: /api/routines/next is something else.
const nextName = "next"

// kept are the routines of a home, by name or id, as its surfaces see them.
type kept struct{ *Background }

func (k kept) all(ctx context.Context) ([]chela.Routine, error) { return k.routines.Routines(ctx) }

func (k kept) named(ctx context.Context, name string) (chela.Routine, error) {
	return k.routines.Routine(ctx, name)
}

func (k kept) create(ctx context.Context, v chela.Routine, by string) (chela.Routine, error) {
	if v.Name == nextName {
		return v, chela.E(chela.Invalid, "no routine can be called "+nextName).WithHint("choose another name")
	}
	return k.routines.Create(ctx, v, by)
}

func (k kept) change(ctx context.Context, name string, c api.RoutineChange, by string) (chela.Routine, error) {
	if c.Name != nil && *c.Name == nextName {
		return chela.Routine{}, chela.E(chela.Invalid, "no routine can be called "+nextName).WithHint("choose another name")
	}
	v, err := k.named(ctx, name)
	if err != nil {
		return v, err
	}
	return k.routines.Update(ctx, v.ID, routine.Change(c), by)
}

func (k kept) remove(ctx context.Context, name, by string) error {
	v, err := k.named(ctx, name)
	if err != nil {
		return err
	}
	return k.routines.Delete(ctx, v.ID, by)
}

func (k kept) fire(ctx context.Context, name string, f api.Firing, by string) (chela.RunID, error) {
	v, err := k.named(ctx, name)
	if err != nil {
		return "", err
	}
	return k.routines.Fire(ctx, v.ID, routine.Firing{Key: f.Key, Input: f.Input, By: by})
}

// runs returns runs without what they said, which may be much.
func (k kept) runs(ctx context.Context, name string, before chela.RunID, limit int) ([]chela.RoutineRun, error) {
	v, err := k.named(ctx, name)
	if err != nil {
		return nil, err
	}
	runs, err := k.routines.Runs(ctx, v.ID, before, limit)
	for i := range runs {
		runs[i].Output = ""
	}
	return runs, err
}

func (k kept) run(ctx context.Context, id chela.RunID) (chela.RoutineRun, error) {
	return k.routines.Run(ctx, id)
}

// ended waits until a run has ended, or ctx has. If seen is not nil, it also waits no
// longer than until the run waits for something else than that, at two looks.
func (k kept) ended(ctx context.Context, id chela.RunID, seen *string) (chela.RoutineRun, error) {
	tick := time.NewTicker(lookTime)
	defer tick.Stop()
	last := ""
	if seen != nil {
		last = *seen
	}
	for {
		run, err := k.run(ctx, id)
		if err != nil || run.State.Ended() || seen != nil && run.Waits != *seen && run.Waits == last {
			return run, err
		}
		last = run.Waits
		select {
		case <-tick.C:
		case <-ctx.Done():
			return run, ctx.Err()
		}
	}
}

func (k kept) next(ctx context.Context, limit int) ([]api.Due, error) {
	all, err := k.routines.Next(ctx, limit)
	due := make([]api.Due, len(all))
	for i, d := range all {
		due[i] = api.Due{At: d.At, Routine: d.Routine.ID, Name: d.Routine.Name, Trigger: d.Routine.Trigger}
	}
	return due, err
}

// hook hands a request to a webhook on.
func (k kept) hook(ctx context.Context, path string, header http.Header, body []byte) (api.Hooked, error) {
	done, err := k.routines.Hook(ctx, path, header, body)
	return api.Hooked{Run: done.Run, Duplicate: done.Again, Challenge: done.Challenge}, err
}

// RoutineRoutes returns the routines of the home as the gateway serves them.
func (b *Background) RoutineRoutes() gateway.Home {
	k := kept{b}
	return gateway.Home{
		Routines: k.all, Routine: k.named, Create: k.create, Change: k.change, Delete: k.remove, Fire: k.fire, Runs: k.runs, Run: k.run,
		Ended: k.ended, Next: k.next, Hook: k.hook,
	}
}

// RoutineOrders returns the routines of the home as /routine reaches them.
func (b *Background) RoutineOrders() command.Home {
	k := kept{b}
	return command.Home{
		All: k.all, Named: k.named, Create: k.create, Change: k.change, Delete: k.remove, Fire: k.fire, Runs: k.runs, Next: k.next,
		Zone: b.cfg.Settings.Zone(), Off: !b.cfg.Settings.Routines.Enabled,
	}
}

// RoutineCommands returns the routines of the home as the commands of this process
// reach them, in the name of its owner.
func (b *Background) RoutineCommands() routines.Home {
	k := kept{b}
	owner := chela.Origin{Channel: api.SocketChannel, Owner: true}
	return routines.Home{
		All: k.all, Named: k.named, Run: k.run, Ended: k.ended, Next: k.next, Off: b.off,
		Create: func(ctx context.Context, n api.NewRoutine) (chela.Routine, error) {
			return k.create(ctx, n.Routine(owner), api.SocketAgent)
		},
		Change: func(ctx context.Context, name string, c api.RoutineChange) (chela.Routine, error) {
			return k.change(ctx, name, c, api.SocketAgent)
		},
		Delete: func(ctx context.Context, name string) error { return k.remove(ctx, name, api.SocketAgent) },
		Fire: func(ctx context.Context, name string, f api.Firing) (chela.RunID, error) {
			return k.fire(ctx, name, f, api.SocketAgent)
		},
		Runs: func(ctx context.Context, name string, limit int) ([]chela.RoutineRun, error) {
			return k.runs(ctx, name, "", limit)
		},
	}
}

// RoutinesThrough returns the routines of a daemon as commands reach them.
func RoutinesThrough(c *client.Client) routines.Home {
	r := c.Routines()
	return routines.Home{
		All: r.All, Named: r.Named, Create: r.Create, Change: r.Change, Delete: r.Delete, Fire: r.Fire, Runs: r.Runs, Run: r.Run, Ended: r.Ended,
		Next: r.Next, Served: true,
		Off: func(ctx context.Context) (bool, error) {
			s, err := c.Status(ctx)
			return s.Routines.Off, err
		},
	}
}
