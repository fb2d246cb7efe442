package jobs

import (
	"context"
	"fmt"
	"strings"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

// A Filter says which jobs are meant. What is zero does not matter.
type Filter struct {
	States    []chela.JobState
	Kind      chela.JobKind
	Requester chela.SessionKey
	Before    chela.JobID // only jobs older than this one
	Limit     int         // required
}

// Jobs returns jobs, newest first.
func (r Read) Jobs(ctx context.Context, f Filter) ([]chela.Job, error) {
	where, args := []string{"1 = 1"}, []any{}
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	if len(f.States) > 0 {
		names := make([]string, len(f.States))
		for i, s := range f.States {
			names[i] = arg(string(s))
		}
		where = append(where, "state in ("+strings.Join(names, ", ")+")")
	}
	if f.Kind != "" {
		where = append(where, "kind = "+arg(string(f.Kind)))
	}
	if f.Requester != "" {
		where = append(where, "requester = "+arg(string(f.Requester))+" and requester <> ''")
	}
	if f.Before != "" {
		before := arg(string(f.Before))
		where = append(where, "(created_at, id) < (select created_at, id from jobs where id = "+before+")")
	}
	return rows.All(ctx, r.tx, scanJob, `select `+jobColumns+` from jobs where `+strings.Join(where, " and ")+`
		order by created_at desc, id desc limit cast(`+arg(f.Limit)+` as bigint)`, args...)
}

// JobsAskedBy returns what a session asked for, oldest first: parts in their order.
func (r Read) JobsAskedBy(ctx context.Context, session chela.SessionKey) ([]chela.Job, error) {
	return rows.All(ctx, r.tx, scanJob, `select `+jobColumns+` from jobs where requester = $1 and requester <> ''
		order by created_at, place, id`, string(session))
}

// kindsOf are the kinds of jobs that share the places of a class.
func kindsOf(class chela.Class) []chela.JobKind {
	if class == chela.ClassSubagent {
		return []chela.JobKind{chela.JobSubagent}
	}
	return []chela.JobKind{chela.JobPlain, chela.JobPart}
}

// CountLive returns how many jobs of all kinds are in each state of which something is
// to come by itself.
func (r Read) CountLive(ctx context.Context) (map[chela.JobState]int, error) {
	live := map[chela.JobState]int{}
	err := r.tx.Query(ctx, func(row engine.Row) error {
		var state string
		var n int
		err := row.Scan(&state, &n)
		live[chela.JobState(state)] = n
		return err
	}, `select state, count(*) from jobs
		where state in ('pending', 'in_progress', 'awaiting_approval', 'modified', 'stuck', 'recovering') group by state`)
	return live, err
}

// CountPlaced returns how many jobs of a class have a place.
func (r Read) CountPlaced(ctx context.Context, class chela.Class) (int, error) {
	return r.count(ctx, class, `state in ('in_progress', 'stuck', 'recovering') and waits = 0`)
}

// CountPending returns how many jobs of a class wait for a place.
func (r Read) CountPending(ctx context.Context, class chela.Class) (int, error) {
	return r.count(ctx, class, `state = 'pending' and waits = 0`)
}

// count counts the jobs of a class of which something is true that an index knows.
func (r Read) count(ctx context.Context, class chela.Class, what string) (n int, err error) {
	for _, kind := range kindsOf(class) {
		some, _, err := rows.First(ctx, r.tx, func(row engine.Row) (n int, err error) {
			err = row.Scan(&n)
			return n, err
		}, `select count(*) from jobs where kind = $1 and `+what, string(kind))
		if err != nil {
			return 0, err
		}
		n += some
	}
	return n, nil
}

// PendingJob returns the job of a class that is to begin next, and whether there is
// one: the most urgent, of those the oldest. Jobs that wait for others are passed
// over.
func (r Read) PendingJob(ctx context.Context, class chela.Class) (next chela.Job, ok bool, err error) {
	for _, kind := range kindsOf(class) {
		j, some, err := rows.First(ctx, r.tx, scanJob, `select `+jobColumns+` from jobs
			where kind = $1 and state = 'pending' and waits = 0 order by priority desc, created_at, id limit 1`, string(kind))
		if err != nil {
			return next, false, err
		}
		if some && (!ok || sooner(j, next)) {
			next, ok = j, true
		}
	}
	return next, ok, nil
}

// sooner reports whether a begins before b.
func sooner(a, b chela.Job) bool {
	switch {
	case a.Priority != b.Priority:
		return a.Priority > b.Priority
	case !a.CreatedAt.Equal(b.CreatedAt):
		return a.CreatedAt.Before(b.CreatedAt)
	default:
		return a.ID < b.ID
	}
}
