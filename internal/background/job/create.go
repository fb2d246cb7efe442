package job

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"chela"
	"chela/internal/store"
)

// A CreateRequest asks for a job. Agent, Text and By are required.
type CreateRequest struct {
	Key      string // idempotency key: the same key makes no second job; empty for none
	Kind     chela.JobKind
	Agent    string
	Title    string // default: the beginning of the text
	Text     string
	Label    string
	By       string // principal that requests the job
	Priority int
	Options  chela.JobOptions

	Requester chela.SessionKey // session that receives the ending; empty for none
	Origin    chela.Origin     // origin of the message that reports the ending
	Run       chela.RunID
	Parts     []string // texts of its parts; the job itself starts after they have ended
	Parent    chela.JobID
	Depth     int

	copied bool // it works in a copy of the folder of its requester
}

// Create adds a job, which starts without a further call. A repeated key
// returns the job it made before, or Conflict if the order differs. It returns
// Invalid for a bad order and Exhausted if too many jobs wait.
func (d *Jobs) Create(ctx context.Context, o CreateRequest) (j chela.Job, err error) {
	if o, err = d.complete(o); err != nil {
		return chela.Job{}, err
	}
	o.copied = d.cfg.Copies.Copied(ctx, chela.Job{Kind: o.Kind, Origin: o.Origin, Requester: o.Requester})
	var known bool
	err = d.act(ctx, "job.create", func(a *act) (err error) {
		if j, known, err = a.w.JobByKey(ctx, o.Key); known || err != nil {
			return err
		}
		j = d.job(o)
		return a.create(ctx, &j, o)
	})
	if chela.KindOf(err) == chela.Conflict { // created concurrently
		wrong := d.store.Read(ctx, func(r *store.Read) (err error) {
			j, known, err = r.JobByKey(ctx, o.Key)
			return err
		})
		if known && wrong == nil {
			err = nil
		}
	}
	if known && err == nil {
		err = d.same(ctx, j, o)
	}
	return j, err
}

// same returns Conflict if the job made under an order's key differs from the
// order. A routine may have been changed between two attempts of its run.
func (d *Jobs) same(ctx context.Context, j chela.Job, o CreateRequest) error {
	if o.Run != "" {
		return nil
	}
	asked, err := store.Get(ctx, d.store, (*store.Read).JobsAskedBy, j.Session)
	if err != nil {
		return err
	}
	var parts []string
	for _, p := range asked {
		if p.Key == firstPartKey(j.ID, len(parts)) {
			parts = append(parts, p.Text)
		}
	}
	if j.Agent == o.Agent && j.Title == o.Title && j.Text == o.Text && slices.Equal(parts, o.Parts) {
		return nil
	}
	return chela.Ef(chela.Conflict, "the key %.60q made job %s, whose request was different: %s", o.Key, j.ID, j.Title).
		WithHint("use a new key for a new request")
}

// MaxPriority bounds the absolute value of a priority.
const MaxPriority = 100

// complete fills in the defaults of an order and validates it.
func (d *Jobs) complete(o CreateRequest) (CreateRequest, error) {
	o.Kind = cmp.Or(o.Kind, chela.JobPlain)
	most := chela.MaxMessageBytes
	if len(o.Parts) > 0 {
		most /= 2 // the other half is for their endings
	}
	for _, text := range append([]string{o.Text}, o.Parts...) {
		if strings.TrimSpace(text) == "" {
			return o, chela.E(chela.Invalid, "the text of the job is empty").WithHint("describe the task")
		}
		if len(text) > most {
			return o, chela.Ef(chela.Invalid, "the text is longer than %d bytes", most).
				WithHint("put it into a file of the workspace and give its path")
		}
	}
	if err := d.check(o); err != nil {
		return o, err
	}
	o.Title = chela.TitleOf(cmp.Or(o.Title, o.Text))
	return o, d.cfg.Agent(o.Agent)
}

// check returns Invalid for an order with values out of range.
func (d *Jobs) check(o CreateRequest) error {
	if o.Requester != "" {
		if _, err := chela.ParseSessionKey(o.Requester); err != nil {
			return err
		}
	}
	switch {
	case o.Kind != chela.JobPlain && o.Kind != chela.JobSubagent && o.Kind != chela.JobPart:
		return chela.Ef(chela.Invalid, "%.40q is not a kind of job", o.Kind).WithHint("use job or subagent")
	case o.Kind != chela.JobPart && o.Origin.Generation >= d.cfg.MaxDepth:
		return chela.Ef(chela.Denied, "%d nested jobs led to this turn, the limit of jobs.depth", o.Origin.Generation).
			WithHint("do the work in this turn, or finish and let a person request the job")
	case len(o.Parts) > d.cfg.MaxParts:
		return chela.Ef(chela.Invalid, "%d parts are too many", len(o.Parts)).
			WithHint(fmt.Sprintf("use at most %d", d.cfg.MaxParts))
	case o.Priority < -MaxPriority || o.Priority > MaxPriority:
		return chela.Ef(chela.Invalid, "priority %d is out of range", o.Priority).
			WithHint(fmt.Sprintf("use %d to %d; the default is 0", -MaxPriority, MaxPriority))
	case o.Options.Steps < 0 || o.Options.Timeout < 0 || o.Options.Tokens < 0:
		return chela.E(chela.Invalid, "the limits of a job cannot be negative").WithHint("leave a limit out to use the default")
	}
	return nil
}

// job builds the job of an order.
func (d *Jobs) job(o CreateRequest) chela.Job {
	j := chela.Job{
		ID: d.cfg.IDs.Job(), Kind: o.Kind, Key: o.Key, Agent: o.Agent, Title: o.Title, Text: o.Text, Label: o.Label,
		State: chela.JobPending, Priority: o.Priority, Options: o.Options, Requester: o.Requester, Origin: o.Origin, Parent: o.Parent,
		Depth: o.Depth, Run: o.Run, Waits: len(o.Parts),
	}
	j.Key = cmp.Or(j.Key, string(j.ID))
	key := chela.Key{Kind: chela.KeyJob, Agent: o.Agent, ID: string(j.ID)}
	if o.Kind == chela.JobSubagent {
		key.Kind = chela.KeySubagent
		if j.Options.Cleanup == "" {
			j.Options.Cleanup = chela.CleanupKeep
		}
	}
	j.Session, j.Reason = key.Session(), waitsFor(j.Waits)
	return j
}

// create adds a job and its parts.
func (a *act) create(ctx context.Context, j *chela.Job, o CreateRequest) error {
	class := j.Class()
	pending, err := a.w.CountPending(ctx, class)
	if most := a.limits(class).Waiting; err == nil && pending >= most {
		err = chela.Ef(chela.Exhausted, "%d jobs are already waiting", pending).
			WithHint("cancel some, or try again once some have ended")
	}
	if err != nil {
		return err
	}
	if err := a.inherit(ctx, j); err != nil {
		return err
	}
	if err := a.put(ctx, j, o.By); err != nil {
		return err
	}
	if o.copied {
		if err := a.cfg.Copies.Want(ctx, a.w, *j); err != nil {
			return err
		}
	}
	for i, text := range o.Parts {
		part := a.part(*j, text, i)
		if err := a.put(ctx, &part, o.By); err != nil {
			return err
		}
	}
	return a.dispatch(ctx, class, true)
}

// put inserts the row of a job.
func (a *act) put(ctx context.Context, j *chela.Job, by string) error {
	j.CreatedAt = a.now
	if err := a.w.AddJob(ctx, *j); err != nil {
		return err
	}
	if err := a.note(ctx, j, chela.JobEvent{Kind: chela.JobMoved, To: j.State, By: by}); err != nil {
		return err
	}
	return a.announce(ctx, *j, chela.EventJobChanged, string(j.State))
}

// part builds a part of a job.
func (a *act) part(j chela.Job, text string, place int) chela.Job {
	options := j.Options
	options.Plan, options.Quiet = false, false
	p := a.job(CreateRequest{
		Key: firstPartKey(j.ID, place), Kind: chela.JobPart, Agent: j.Agent, Title: chela.TitleOf(text), Text: text, Priority: j.Priority,
		Options: options, Requester: j.Session, Parent: j.ID, Depth: j.Depth,
	})
	p.Place = place
	p.Origin = followed(j)
	return p
}

// inherit gives a job the profile of the session that requests it, unless that of the
// requesting turn is known.
func (a *act) inherit(ctx context.Context, j *chela.Job) error {
	if j.Origin.Profile != "" || j.Requester == "" {
		return nil
	}
	s, err := a.w.Session(ctx, j.Requester)
	if chela.KindOf(err) == chela.NotFound {
		return nil
	}
	j.Origin.Profile = s.Settings.Profile
	return err
}

// firstPartKey is the key of a part that is created together with its job.
func firstPartKey(id chela.JobID, place int) string { return fmt.Sprintf("%s/part/%d", id, place) }

// followed is the origin of messages whose turns a job follows.
func followed(j chela.Job) chela.Origin {
	o := chela.Origin{
		Channel: chela.ChannelJob, Account: string(j.ID), ReplyBy: chela.ReplyByFollow, Owner: j.Origin.Owner, Provenance: j.Origin.Provenance,
		Generation: j.Origin.Generation + 1, Profile: j.Origin.Profile,
	}
	return o.ActingFor(j.Principal())
}
