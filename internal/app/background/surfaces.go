package background

import (
	"context"
	"net/http"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/background/routine"
	"chela/internal/surface/command"
	"chela/internal/surface/gateway"
)

// lookTime is the poll interval for the end of a run that a client waits for.
const lookTime = 100 * time.Millisecond

// nextName is reserved, because /api/routines/next is another route.
const nextName = "next"

// kept is the view of a home's routines, by name or id, for its surfaces.
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

// runs returns runs without their output, which may be large.
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

// ended waits until a run has ended, or ctx has. If seen is not nil, it also
// returns when the run waits for another reason than that, at two polls in a
// row.
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

// hook passes a request on to a webhook.
func (k kept) hook(ctx context.Context, path string, header http.Header, body []byte) (api.Hooked, error) {
	done, err := k.routines.Hook(ctx, path, header, body)
	return api.Hooked{Run: done.Run, Duplicate: done.Again, Challenge: done.Challenge}, err
}

// RoutineRoutes returns the routines of the home for the gateway.
func (b *Background) RoutineRoutes() gateway.RoutineAPI {
	k := kept{b}
	return gateway.RoutineAPI{
		Routines: k.all, Routine: k.named, Create: k.create, Change: k.change, Delete: k.remove, Fire: k.fire, Runs: k.runs, Run: k.run,
		Ended: k.ended, Next: k.next, Hook: k.hook,
	}
}

// RoutineOrders returns the routines of the home for the command /routine.
func (b *Background) RoutineOrders() command.RoutineAPI {
	k := kept{b}
	return command.RoutineAPI{
		All: k.all, Named: k.named, Create: k.create, Change: k.change, Delete: k.remove, Fire: k.fire, Runs: k.runs, Next: k.next,
		Zone: b.cfg.Settings.Zone(), Off: !b.cfg.Settings.Routines.Enabled,
	}
}
