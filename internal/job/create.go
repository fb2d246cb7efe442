package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"chela"
	"chela/internal/store"
)

// An Order is a request for a job. Agent, Text and By are required.
type Order struct {
	Key      string // names the request; the same one makes no second job. Empty: it is new
	Kind     chela.JobKind
	Agent    string
	Title    string // empty: the beginning of the text
	Text     string
	Label    string
	By       string // who asked
	Priority int
	Options  chela.JobOptions

	Requester chela.SessionKey // that is told how it ends; empty for none
	Origin    chela.Origin     // with which it is told
	Run       chela.RunID
	Parts     []string // what its parts are to do; it begins once they have ended
	Parent    chela.JobID
	Depth     int
}

// errMade ends a transaction that would make a job that is there.
var errMade = errors.New("the job is there")

// Create takes a job in; it begins by itself. A request that made a job before
// gets that; one that has its key and asks for something else is a Conflict. It is
// Invalid if something in the order is wrong, and Exhausted if too many jobs wait.
func (d *Desk) Create(ctx context.Context, o Order) (j chela.Job, err error) {
	if o, err = d.complete(o); err != nil {
		return chela.Job{}, err
	}
	err = d.act(ctx, "job.create", func(a *act) error {
		known, ok, err := a.w.JobByKey(ctx, o.Key)
		if ok || err != nil {
			j = known
			return cmp.Or(err, errMade)
		}
		j = d.job(o)
		return a.create(ctx, &j, o)
	})
	if chela.KindOf(err) == chela.Conflict { // somebody made it at the same moment
		if again, known := d.made(ctx, o.Key); known {
			j, err = again, errMade
		}
	}
	if errors.Is(err, errMade) {
		err = d.same(ctx, j, o)
	}
	return j, err
}

// same returns a Conflict if a job that an order's key made is not what the order
// asks for. A routine may have been changed while its run was begun again.
func (d *Desk) same(ctx context.Context, j chela.Job, o Order) error {
	if o.Run != "" {
		return nil
	}
	asked, err := store.Find(ctx, d.store, func(r *store.Read) ([]chela.Job, error) { return r.JobsAskedBy(ctx, j.Session) })
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
	return chela.E(chela.Conflict, fmt.Sprintf("the key %.60q made job %s, which is another one: %s", o.Key, j.ID, j.Title)).
		WithHint("use another key for what is new")
}

// MaxPriority is how urgent, or the reverse, a job can be.
const MaxPriority = 100

// complete fills in what an order leaves open, and refuses what cannot be done.
func (d *Desk) complete(o Order) (Order, error) {
	o.Kind = cmp.Or(o.Kind, chela.JobPlain)
	most := chela.MaxMessageBytes
	if len(o.Parts) > 0 {
		most /= 2 // the rest is for how they end
	}
	for _, text := range append([]string{o.Text}, o.Parts...) {
		if strings.TrimSpace(text) == "" {
			return o, chela.E(chela.Invalid, "there is nothing to do").WithHint("say what is to be done")
		}
		if len(text) > most {
			return o, chela.E(chela.Invalid, fmt.Sprintf("the text is longer than %d bytes", most)).
				WithHint("write it into a file of the workspace, and name that")
		}
	}
	if err := d.check(o); err != nil {
		return o, err
	}
	o.Title = chela.TitleOf(cmp.Or(o.Title, o.Text))
	return o, d.cfg.Agent(o.Agent)
}

// check refuses an order that cannot be meant so.
func (d *Desk) check(o Order) error {
	if o.Requester != "" {
		if _, err := chela.ParseSessionKey(o.Requester); err != nil {
			return err
		}
	}
	switch {
	case o.Kind != chela.JobPlain && o.Kind != chela.JobSubagent && o.Kind != chela.JobPart:
		return chela.E(chela.Invalid, fmt.Sprintf("%.40q is no kind of job", o.Kind)).WithHint("use job or subagent")
	case len(o.Parts) > d.cfg.MaxParts:
		return chela.E(chela.Invalid, fmt.Sprintf("%d parts are too many", len(o.Parts))).
			WithHint(fmt.Sprintf("make at most %d of them", d.cfg.MaxParts))
	case o.Priority < -MaxPriority || o.Priority > MaxPriority:
		return chela.E(chela.Invalid, fmt.Sprintf("a priority of %d is out of bounds", o.Priority)).
			WithHint(fmt.Sprintf("use %d to %d; 0 is usual", -MaxPriority, MaxPriority))
	case o.Options.Steps < 0 || o.Options.Timeout < 0 || o.Options.Tokens < 0:
		return chela.E(chela.Invalid, "a job cannot have less than no steps, time or tokens").WithHint("leave out what the home decides")
	}
	return nil
}

// job returns the job of an order.
func (d *Desk) job(o Order) chela.Job {
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
func (a *act) create(ctx context.Context, j *chela.Job, o Order) error {
	class := j.Class()
	pending, err := a.w.CountPending(ctx, class)
	if most := a.limits(class).Waiting; err == nil && pending >= most {
		err = chela.E(chela.Exhausted, fmt.Sprintf("%d jobs wait already", pending)).
			WithHint("cancel some, or try again once some have ended")
	}
	if err != nil {
		return err
	}
	if err := a.put(ctx, j, o.By); err != nil {
		return err
	}
	for i, text := range o.Parts {
		part := a.part(*j, text, i)
		if err := a.put(ctx, &part, o.By); err != nil {
			return err
		}
	}
	return a.dispatch(ctx, class, true)
}

// put adds the row of a job.
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

// part returns a part of a job.
func (a *act) part(j chela.Job, text string, place int) chela.Job {
	options := j.Options
	options.Plan, options.Quiet = false, false
	p := a.job(Order{
		Key: firstPartKey(j.ID, place), Kind: chela.JobPart, Agent: j.Agent, Title: chela.TitleOf(text), Text: text, Priority: j.Priority,
		Options: options, Requester: j.Session, Parent: j.ID, Depth: j.Depth,
	})
	p.Place = place
	p.Origin = followed(j)
	return p
}

// firstPartKey is the key of a part with which a job was made.
func firstPartKey(id chela.JobID, place int) string { return fmt.Sprintf("%s/part/%d", id, place) }

// followed is the origin of messages that a job follows.
func followed(j chela.Job) chela.Origin {
	return chela.Origin{Channel: chela.ChannelJob, Account: string(j.ID), ReplyBy: chela.ReplyByFollow, Owner: j.Origin.Owner}
}

// made returns the job that a request made.
func (d *Desk) made(ctx context.Context, key string) (j chela.Job, ok bool) {
	err := d.store.Read(ctx, func(r *store.Read) (err error) {
		j, ok, err = r.JobByKey(ctx, key)
		return err
	})
	return j, ok && err == nil
}
