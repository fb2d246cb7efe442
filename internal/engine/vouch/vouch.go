// Package vouch lets the owner trust texts that came from outside: documents,
// routines and files with a label below folder (see chela.Provenance). The owner
// reads a version and vouches for it. It then counts as the owner's text until it
// changes; a change has the label of the turn that makes it. Each vouch is a row.
//
// A private text stays private. A vouch is an act of a person: no tool makes one.
package vouch

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/platform/excerpt"
	"chela/internal/store"
	"chela/internal/tool/workspace"
)

// Config holds the dependencies of [Vouches]. All fields are required.
type Config struct {
	IDs       *chela.IDs
	Now       func() time.Time
	Workspace workspace.Finder
	Agent     func(name string) error // returns Invalid unless the configuration has the agent
}

// Vouches records the owner's trust. It is safe for concurrent use.
type Vouches struct {
	cfg   Config
	store *store.Store
}

// New returns the vouches of a store.
func New(s *store.Store, cfg Config) *Vouches { return &Vouches{cfg, s} }

// Operations binds the operations on trust.
func (vs *Vouches) Operations() []api.Bound {
	return []api.Bound{
		api.TrustList.Do(vs.list),
		api.TrustShow.Do(func(ctx context.Context, _ api.Caller, q api.TextRef) (api.LabelledText, error) {
			return vs.show(ctx, q.Kind, cmp.Or(q.Agent, chela.MainAgent), q.Name)
		}),
		api.TrustVouch.Do(vs.vouch),
		api.TrustVouches.Do(vs.vouches),
	}
}

// list returns the texts of an agent below folder, without their words.
func (vs *Vouches) list(ctx context.Context, _ api.Caller, q api.TrustQuery) (page api.Page[api.LabelledText], _ error) {
	agent := cmp.Or(q.Agent, chela.MainAgent)
	if err := vs.cfg.Agent(agent); err != nil {
		return page, err
	}
	all, err := store.Find(ctx, vs.store, func(r *store.Read) ([]api.LabelledText, error) { return labelled(ctx, r, agent) })
	if err != nil {
		return page, err
	}
	cursor := func(t api.LabelledText) string { return string(t.Kind) + "/" + t.Name }
	slices.SortFunc(all, func(a, b api.LabelledText) int { return strings.Compare(cursor(a), cursor(b)) })
	return api.Cut(all, q.After, q.Limit, cursor)
}

// labelled returns the texts of an agent below folder, in no order.
func labelled(ctx context.Context, r *store.Read, agent string) (all []api.LabelledText, _ error) {
	documents, err := r.Documents(ctx, agent, "")
	if err != nil {
		return nil, err
	}
	for _, d := range documents {
		all = append(all, ofDocument(d))
	}
	routines, err := r.Routines(ctx, "", maxRoutines)
	if err != nil {
		return nil, err
	}
	for _, v := range routines {
		if v.Agent == agent {
			all = append(all, ofRoutine(v))
		}
	}
	labels, err := fileLabels(ctx, r, agent)
	if err != nil {
		return nil, err
	}
	for _, l := range labels {
		all = append(all, api.LabelledText{Kind: chela.TextFile, Agent: agent, Name: l.Path, Provenance: l.Provenance})
	}
	all = slices.DeleteFunc(all, func(t api.LabelledText) bool { return !t.Provenance.BelowFolder() })
	for i := range all {
		all[i].Text, all[i].Cut = "", false
	}
	return all, nil
}

// maxRoutines is more than a home can have.
const maxRoutines = 1 << 20

// show returns a text. It is NotFound if it does not exist.
func (vs *Vouches) show(ctx context.Context, kind chela.TextKind, agent, name string) (t api.LabelledText, err error) {
	if err := vs.cfg.Agent(agent); err != nil {
		return t, err
	}
	if err := api.OneOf(kind, "is not a kind of text"); err != nil { // in a path, so it leads nowhere
		return t, chela.Ef(chela.NotFound, "there is no kind of texts %q", excerpt.Runes(string(kind), 80)).WithHint(chela.HintOf(err))
	}
	if kind == chela.TextFile {
		return vs.file(ctx, agent, name)
	}
	return store.Find(ctx, vs.store, func(r *store.Read) (api.LabelledText, error) {
		if kind == chela.TextDocument {
			d, err := document(ctx, r, agent, name)
			return ofDocument(d), err
		}
		v, err := routine(ctx, r, name)
		return ofRoutine(v), err
	})
}

func document(ctx context.Context, r *store.Read, agent, name string) (chela.Document, error) {
	d, err := r.Document(ctx, agent, name)
	if err == nil && d.Deleted {
		err = chela.Ef(chela.NotFound, "the document %s was deleted", name)
	}
	return d, err
}

func routine(ctx context.Context, r *store.Read, name string) (chela.Routine, error) {
	v, ok, err := r.RoutineNamed(ctx, name)
	if err == nil && !ok {
		err = chela.Ef(chela.NotFound, "there is no routine %q", excerpt.Runes(name, 80)).WithHint("see chela routines list")
	}
	return v, err
}

func ofDocument(d chela.Document) api.LabelledText {
	return api.LabelledText{
		Kind: chela.TextDocument, Agent: d.Agent, Name: d.Path, Version: strconv.FormatInt(d.Version, 10), Provenance: d.Provenance,
		Text: excerpt.Visible(d.Text),
	}
}

// ofRoutine shows what a routine does, and when, as JSON.
func ofRoutine(v chela.Routine) api.LabelledText {
	text, _ := json.MarshalIndent(struct { // it holds only types that JSON has
		Description string              `json:"description,omitempty"`
		Trigger     chela.Trigger       `json:"trigger"`
		Action      chela.RoutineAction `json:"action"`
		Guards      chela.RoutineGuards `json:"guards,omitzero"`
		Notify      chela.RoutineNotify `json:"notify,omitzero"`
	}{v.Description, v.Trigger, v.Action, v.Guards, v.Notify}, "", "  ")
	return api.LabelledText{
		Kind: chela.TextRoutine, Agent: v.Agent, Name: v.Name, Version: strconv.Itoa(v.Version), Provenance: v.Origin.Provenance,
		Text: excerpt.Visible(string(text)),
	}
}

// vouch vouches for a version of a text. For a text that needs none, such as one
// that was vouched for before, it records nothing and returns a vouch without an id.
func (vs *Vouches) vouch(ctx context.Context, c api.Caller, q api.VouchRequest) (v chela.Vouch, err error) {
	if c.Agent != "" {
		return v, chela.E(chela.Denied, "only a person can vouch for a text")
	}
	agent := cmp.Or(q.Vouch.Agent, chela.MainAgent)
	t, err := vs.show(ctx, q.Kind, agent, q.Vouch.Name)
	if err != nil {
		return v, err
	}
	if t.Version != q.Vouch.Version {
		return v, changed(t)
	}
	v = chela.Vouch{Kind: t.Kind, Agent: t.Agent, Name: t.Name, Version: t.Version, Provenance: t.Provenance, By: c.By, At: vs.cfg.Now()}
	if !t.Provenance.BelowFolder() {
		return v, nil
	}
	v.ID = vs.cfg.IDs.Vouch()
	err = vs.store.Write(ctx, "vouch.add", func(w *store.Write) error {
		if err := apply(ctx, w, v); err != nil {
			return err
		}
		return w.AddVouch(ctx, v)
	})
	return v, err
}

// changed is the error of a vouch for another version than the present one.
func changed(t api.LabelledText) error {
	return chela.Ef(chela.Conflict, "the %s %s has changed since: its version is %s now", t.Kind, t.Name, cmp.Or(t.Version, "unknown")).
		WithHint("read it again, with chela trust show " + string(t.Kind) + " " + t.Name)
}

// apply gives a text the label of the owner's, in the transaction that records the
// vouch. It is a Conflict if the text has changed.
func apply(ctx context.Context, w *store.Write, v chela.Vouch) error {
	trusted := chela.Provenance{Privacy: v.Provenance.Privacy}
	switch v.Kind {
	case chela.TextDocument:
		d, err := w.HoldDocument(ctx, chela.Document{Agent: v.Agent, Path: v.Name, CreatedAt: v.At})
		if err != nil {
			return err
		}
		if t := ofDocument(d); t.Version != v.Version {
			return changed(t)
		}
		d.Version, d.Key, d.Author, d.WrittenAt, d.Provenance = d.Version+1, string(v.ID), chela.Author{By: v.By}, v.At, trusted
		return w.AddVersion(ctx, d)
	case chela.TextRoutine:
		r, err := routine(ctx, &w.Read, v.Name)
		if err == nil {
			r, err = w.LockRoutine(ctx, r.ID)
		}
		if err != nil {
			return err
		}
		if t := ofRoutine(r); t.Version != v.Version {
			return changed(t)
		}
		r.Version, r.UpdatedAt, r.Origin.Provenance = r.Version+1, v.At, trusted
		return w.SaveRoutine(ctx, r)
	default:
		at, err := placeOf(ctx, &w.Read, v.Agent, v.Name)
		if err != nil {
			return err
		}
		did, err := w.RemoveFileLabel(ctx, at.workspace, at.path)
		if err == nil && !did {
			err = changed(api.LabelledText{Kind: v.Kind, Name: v.Name})
		}
		return err
	}
}

func (vs *Vouches) vouches(ctx context.Context, _ api.Caller, q api.VouchesQuery) (page api.Page[chela.Vouch], _ error) {
	found, err := store.Find(ctx, vs.store, func(r *store.Read) ([]chela.Vouch, error) {
		if q.Before != "" {
			if _, err := r.Vouch(ctx, q.Before); err != nil {
				return nil, api.Unknown(string(q.Before), err)
			}
		}
		return r.Vouches(ctx, q.Before, api.Rows(q.Limit)+1)
	})
	return api.Paged(found, q.Limit, func(v chela.Vouch) string { return string(v.ID) }), err
}
