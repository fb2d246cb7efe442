package job

import (
	"context"
	"fmt"
	"time"

	"chela"
	"chela/internal/safety"
	"chela/internal/store"
)

func (o attemptArgs) key() string { return fmt.Sprintf("%s/%d", o.Job, o.Attempt) }

// tell delivers the ending of an attempt to the session that requested the job,
// once.
func (d *Jobs) tell(ctx context.Context, of attemptArgs) error {
	var in chela.Inbound
	var wanted bool
	err := d.store.Read(ctx, func(r *store.Read) (err error) {
		in, wanted, err = d.announcement(ctx, r, of)
		return err
	})
	if err == nil && wanted {
		if files := d.namedFiles(ctx, of.Job); files != "" {
			in.Text = withFiles(in.Text, files)
		}
		_, err = d.cfg.Lanes.Submit(ctx, in)
	}
	if err != nil {
		return err
	}
	_, err = d.change(ctx, "job.announced", of.Job, func(a *act, j *chela.Job) error { return a.announced(ctx, j, of, "") })
	return err
}

// untold reports whether the ending of an attempt still has to be delivered.
func untold(j chela.Job, of attemptArgs) bool {
	return j.Attempt == of.Attempt && !j.State.Live() && j.AnnouncedAt.IsZero()
}

// announcement returns the message that reports the ending of an attempt, and
// whether the requester wants it. A requesting job that has itself ended does
// not.
func (d *Jobs) announcement(ctx context.Context, r *store.Read, of attemptArgs) (in chela.Inbound, wanted bool, err error) {
	j, err := r.Job(ctx, of.Job)
	if err != nil || !untold(j, of) {
		return in, false, err
	}
	key, err := chela.ParseSessionKey(j.Requester)
	if err != nil {
		return in, false, err
	}
	in = chela.Inbound{
		Session: j.Requester, Agent: key.Agent, Origin: j.Origin, MessageID: "announce/" + of.key(),
		Queue: chela.QueueSettings{Mode: chela.QueueCollect}, // only people interrupt or steer
	}
	if in.Agent == "" {
		in.Agent = j.Agent
	}
	asking, isJob, err := r.JobIn(ctx, j.Requester)
	if err != nil {
		return in, false, err
	}
	if isJob {
		in.Thread, in.Origin = asking.Thread, followed(asking)
		in.Queue = patient()
	}
	in.Queue.Drop = chela.DropNever // a session that requested a job always accepts its ending
	from, err := r.JobProvenance(ctx, j)
	if err != nil {
		return in, false, err
	}
	in.Origin.Provenance = in.Origin.Provenance.With(safety.Label("ending", from))
	if !isJob {
		in.Origin.Generation++
	}
	spent, err := r.UsageSince(ctx, j.Session, j.StartedAt)
	in.Text = endingText(j, spent, isJob)
	return in, !isJob || asking.State.Live(), err
}

// announced closes the announcement of an attempt's ending: it was delivered,
// or failed with trouble.
func (a *act) announced(ctx context.Context, j *chela.Job, of attemptArgs, trouble string) error {
	if !untold(*j, of) {
		return nil
	}
	if err := a.note(ctx, j, chela.JobEvent{Kind: chela.JobAnnounced, By: By, Text: trouble}); err != nil {
		return err
	}
	if err := a.told(ctx, j); err != nil {
		return err
	}
	return a.lookAtAsking(ctx, *j)
}

// archive removes the session of a job from the lists once its retention is
// over. If that is later, it returns the time.
func (d *Jobs) archive(ctx context.Context, id chela.JobID) (later time.Time, err error) {
	_, err = d.change(ctx, "job.archive", id, func(a *act, j *chela.Job) error {
		later = time.Time{}
		switch {
		case j.ArchiveAt.IsZero() || !j.ArchivedAt.IsZero() || j.State.Live():
			return nil
		case j.ArchiveAt.After(a.now):
			later = j.ArchiveAt
			return nil
		}
		if err := a.archiveSession(ctx, *j); err != nil {
			return err
		}
		j.ArchivedAt = a.now
		return a.keep(ctx, j)
	})
	return later, err
}

// archiveSession archives the session of a job that was started.
func (a *act) archiveSession(ctx context.Context, j chela.Job) error {
	if j.Attempt == 0 {
		return nil
	}
	if _, err := a.w.LockLane(ctx, j.Session); err != nil {
		return err
	}
	s, err := a.w.Session(ctx, j.Session)
	if err != nil {
		return err
	}
	s.Settings.ArchivedAt = a.now
	if err := a.w.SaveSession(ctx, s); err != nil {
		return err
	}
	return a.w.Announce(ctx, a.now, []chela.Event{{Kind: chela.EventSessionChanged, Session: s.Key, Thread: s.Thread}})
}
