package store

import (
	"context"

	"chela"
	"chela/internal/store/engine"
)

var jobEventTable = tableOf[chela.JobEvent]("event of a job", "job_events", `
	job seq kind from_state=From to_state=To step turn by key text created_at=At`)

// JobEvents returns the events of a job's story after a number, in order.
func (r *Read) JobEvents(ctx context.Context, id chela.JobID, after int) ([]chela.JobEvent, error) {
	return jobEventTable.all(ctx, r.tx, `where job = $1 and seq > $2 order by seq`,
		id, after)
}

// JobEventByKey returns the event that a request caused in a job's story, and
// whether there is one.
func (r *Read) JobEventByKey(ctx context.Context, id chela.JobID, key string) (chela.JobEvent, bool, error) {
	return jobEventTable.first(ctx, r.tx, `where job = $1 and key = $2 and key <> ''`,
		id, key)
}

// AddJobEvent appends an event to the story of a locked job and numbers it. It
// returns Conflict if the job has its key.
func (w *Write) AddJobEvent(ctx context.Context, e chela.JobEvent) error {
	return w.tx.Must(ctx, `insert into job_events (`+jobEventTable.columns+`) values (
			$1, coalesce((select max(seq) from job_events where job = $1), 0) + 1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		e.Job, e.Kind, e.From, e.To, e.Step, e.Turn, e.By, e.Key, e.Text, e.At)
}

func scanJobStep(row engine.Row) (s chela.JobStep, err error) {
	err = row.Scan(&s.Place, &s.Text, &s.State, &s.Note)
	return s, err
}

// JobSteps returns the steps of a job's plan, in order.
func (r *Read) JobSteps(ctx context.Context, id chela.JobID) ([]chela.JobStep, error) {
	return queryAll(ctx, r.tx, scanJobStep, `select place, text, state, note from job_steps where job = $1 order by place`, id)
}

// PlanJob replaces the steps of a job's plan.
func (w *Write) PlanJob(ctx context.Context, id chela.JobID, steps []chela.JobStep) error {
	if err := w.tx.Must(ctx, `delete from job_steps where job = $1`, id); err != nil {
		return err
	}
	for _, s := range steps {
		if err := w.tx.Must(ctx, `insert into job_steps (job, place, text, state, note) values ($1, $2, $3, $4, $5)`,
			id, s.Place, s.Text, s.State, s.Note); err != nil {
			return err
		}
	}
	return nil
}

// MoveStep stores the state of a step of a job's plan. It returns Conflict if
// the plan has no such step.
func (w *Write) MoveStep(ctx context.Context, id chela.JobID, s chela.JobStep) error {
	return w.tx.Move(ctx, "the plan of job", id, `update job_steps set state = $3, note = $4 where job = $1 and place = $2`,
		id, s.Place, s.State, s.Note)
}

// JobMessages returns the number of messages followed by a job that arrived in
// its session with the given id prefix, and the number of all its followed
// messages that still have no turn.
func (r *Read) JobMessages(ctx context.Context, id chela.JobID, beginning string) (arrived, waiting int, err error) {
	err = r.tx.Query(ctx, func(row engine.Row) error { return row.Scan(&arrived, &waiting) },
		`select count(case when substr(message_id, 1, cast($4 as integer)) = $3 then 1 end), count(case when state = 'waiting' then 1 end)
		from inbox where channel = $1 and account = $2 and session = (select session from jobs where id = $2)`,
		chela.ChannelJob, id, beginning, len(beginning))
	return arrived, waiting, err
}
