package jobs

import (
	"context"

	"chela"
	"chela/internal/store/engine"
	"chela/internal/store/rows"
)

const eventColumns = `job, seq, kind, from_state, to_state, step, turn, by, key, text, created_at`

func scanEvent(row engine.Row) (e chela.JobEvent, err error) {
	err = row.Scan(&e.Job, &e.Seq, &e.Kind, &e.From, &e.To, &e.Step, &e.Turn, &e.By, &e.Key, &e.Text, rows.Time(&e.At))
	return e, err
}

// JobEvents returns what happened to a job after an event, in order.
func (r Read) JobEvents(ctx context.Context, id chela.JobID, after int) ([]chela.JobEvent, error) {
	return rows.All(ctx, r.tx, scanEvent, `select `+eventColumns+` from job_events where job = $1 and seq > $2 order by seq`,
		string(id), after)
}

// JobEventByKey returns the event of a job that a request caused, and whether
// there is one.
func (r Read) JobEventByKey(ctx context.Context, id chela.JobID, key string) (chela.JobEvent, bool, error) {
	return rows.First(ctx, r.tx, scanEvent, `select `+eventColumns+` from job_events where job = $1 and key = $2 and key <> ''`,
		string(id), key)
}

// AddJobEvent appends an event to those of a job that is locked; its number is
// given to it. A key that the job has already is a Conflict.
func (w Write) AddJobEvent(ctx context.Context, e chela.JobEvent) error {
	return w.tx.Must(ctx, `insert into job_events (`+eventColumns+`) values (
			$1, coalesce((select max(seq) from job_events where job = $1), 0) + 1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		string(e.Job), string(e.Kind), string(e.From), string(e.To), e.Step, string(e.Turn), e.By, e.Key, e.Text, rows.Micros(e.At))
}

func scanStep(row engine.Row) (s chela.JobStep, err error) {
	err = row.Scan(&s.Place, &s.Text, &s.State, &s.Note)
	return s, err
}

// JobSteps returns the steps of a job's plan, in order.
func (r Read) JobSteps(ctx context.Context, id chela.JobID) ([]chela.JobStep, error) {
	return rows.All(ctx, r.tx, scanStep, `select place, text, state, note from job_steps where job = $1 order by place`, string(id))
}

// PlanJob puts steps in the place of a job's plan.
func (w Write) PlanJob(ctx context.Context, id chela.JobID, steps []chela.JobStep) error {
	if err := w.tx.Must(ctx, `delete from job_steps where job = $1`, string(id)); err != nil {
		return err
	}
	for _, s := range steps {
		if err := w.tx.Must(ctx, `insert into job_steps (job, place, text, state, note) values ($1, $2, $3, $4, $5)`,
			string(id), s.Place, s.Text, string(s.State), s.Note); err != nil {
			return err
		}
	}
	return nil
}

// MoveStep stores how far a step of a job's plan is. It is a Conflict if the plan
// has no such step.
func (w Write) MoveStep(ctx context.Context, id chela.JobID, s chela.JobStep) error {
	return w.tx.Move(ctx, "the plan of job", string(id), `update job_steps set state = $3, note = $4 where job = $1 and place = $2`,
		string(id), s.Place, string(s.State), s.Note)
}

// JobMessages returns how many messages that a job follows have come into its
// session with ids that begin as given, and how many of all that it follows wait
// there for a turn.
func (r Read) JobMessages(ctx context.Context, id chela.JobID, beginning string) (arrived, waiting int, err error) {
	err = r.tx.Query(ctx, func(row engine.Row) error { return row.Scan(&arrived, &waiting) },
		`select count(case when substr(message_id, 1, cast($4 as integer)) = $3 then 1 end), count(case when state = 'waiting' then 1 end)
		from inbox where channel = $1 and account = $2 and session = (select session from jobs where id = $2)`,
		chela.ChannelJob, string(id), beginning, len(beginning))
	return arrived, waiting, err
}
