package drive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"chela"
	"chela/bench/load/measure"
)

// Fires are routines of a chela that become due one after the other while it does
// whatever else it does. A half of them is due once at a time, a quarter every ten
// seconds, a quarter by cron; in turns they leave a note, tell people, have a
// turn and have a job.
type Fires struct {
	Target // its URL with or without the version; no model is named

	Routines int           // 0 means 1
	Window   time.Duration // in which they become due; whole seconds, 0 means 10 s
	Lead     time.Duration // for making them, before the window begins; 0 means 10 s
	Grace    time.Duration // for the last runs to end; 0 means 30 s
	Prefix   string        // of the names of routines, which must be new to the server; empty means one made of the time

	Now func() time.Time
}

// A FiresReport is what became of the due times in the window.
type FiresReport struct {
	Routines int                         `json:"routines"`
	Due      int                         `json:"due"`     // times at which one was due
	Missing  int                         `json:"missing"` // of these without a run
	Early    int                         `json:"early"`   // runs that were stored before they were due
	Failed   int                         `json:"failed"`  // runs that ended badly, were skipped, or did not end
	Said     string                      `json:"said,omitempty"`
	All      Delays                      `json:"all"`
	Actions  map[chela.ActionKind]Delays `json:"actions"`
}

// Delays are how long after they were due runs came so far. Places bound how many
// have a turn or a job at once, so of those Begun and Ended tell of that too.
type Delays struct {
	Fired measure.Quantiles `json:"fired"` // the run was stored
	Begun measure.Quantiles `json:"begun"`
	Ended measure.Quantiles `json:"ended"`
}

const (
	shortest = 10 * time.Second // span of a routine that there can be
	makers   = 8                // requests at once
)

// A firing is one routine of Fires.
type firing struct {
	Name    string              `json:"name"`
	Trigger chela.Trigger       `json:"trigger"`
	Action  chela.RoutineAction `json:"action"`

	due  int // times in the window
	runs []chela.RoutineRun
}

// Run makes the routines, waits until the runs of the window have ended, and
// deletes the routines. Unavailable means that the server refused something.
func (f Fires) Run(ctx context.Context) (*FiresReport, error) {
	f.Routines, f.Window, f.Lead = max(f.Routines, 1), cmp.Or(f.Window, shortest), cmp.Or(f.Lead, shortest)
	f.Grace = cmp.Or(f.Grace, 30*time.Second)
	f.URL = strings.TrimSuffix(strings.TrimSuffix(f.URL, "/"), "/v1")
	f.Prefix = cmp.Or(f.Prefix, "fires"+strconv.FormatInt(f.Now().UnixMicro(), 36))
	s := &salvo{Fires: f, client: newClient(makers)}
	defer s.client.CloseIdleConnections()
	s.begin = f.Now().UTC().Add(f.Lead + time.Second).Truncate(time.Second)
	s.end = s.begin.Add(f.Window)
	s.plan()
	if err := s.each(ctx, s.create); err != nil {
		return nil, err
	}
	if late := f.Now().Sub(s.begin); late > 0 {
		return nil, chela.E(chela.Unavailable, fmt.Sprintf("the routines were made %v after the first was due", late)).WithHint("give more lead")
	}
	if err := measure.Pause(ctx, s.end.Sub(f.Now())); err != nil {
		return nil, err
	}
	if err := s.each(ctx, s.wait); err != nil {
		return nil, err
	}
	return s.report(), s.each(ctx, s.remove)
}

// A salvo is what Run keeps.
type salvo struct {
	Fires
	client     *http.Client
	begin, end time.Time // of the window
	all        []*firing
}

// plan spreads the routines over the window.
func (s *salvo) plan() {
	actions := []chela.RoutineAction{
		{Kind: chela.ActionEvent, Text: "the wind has turned"},
		{Kind: chela.ActionNotify, Text: "the kettle boils"},
		{Kind: chela.ActionTurn, Text: "say whether all is well"},
		{Kind: chela.ActionJob, Text: "count the spoons"},
	}
	for i := range s.Routines {
		offset := s.Window * time.Duration(i) / time.Duration(s.Routines)
		r := &firing{Name: s.Prefix + "-" + strconv.Itoa(i), Action: actions[i%len(actions)], due: 1}
		switch i / len(actions) % 4 {
		case 0:
			at := s.begin.Add(offset.Truncate(time.Second))
			r.Trigger = chela.Trigger{Kind: chela.TriggerCron, Cron: at.Format("5 4 15 * * *"), Zone: "UTC"}
		case 1:
			r.Trigger = chela.Trigger{Kind: chela.TriggerEvery, Every: chela.Span(shortest), Anchor: s.begin.Add(offset % shortest)}
			r.due = int((s.Window-offset%shortest-1)/shortest) + 1
		default:
			r.Trigger = chela.Trigger{Kind: chela.TriggerAt, At: s.begin.Add(offset)}
		}
		s.all = append(s.all, r)
	}
}

// each calls do for all routines, several at once, and returns the errors.
func (s *salvo) each(ctx context.Context, do func(context.Context, *firing) error) error {
	return measure.Together(makers, func(first int) error {
		for i := first; i < len(s.all); i += makers {
			if err := do(ctx, s.all[i]); err != nil {
				return fmt.Errorf("routine %s: %w", s.all[i].Name, err)
			}
		}
		return nil
	})
}

func (s *salvo) create(ctx context.Context, r *firing) error {
	_, err := s.ask(ctx, http.MethodPost, "", r)
	return err
}

func (s *salvo) remove(ctx context.Context, r *firing) error {
	_, err := s.ask(ctx, http.MethodDelete, "/"+r.Name, nil)
	return err
}

// wait reads the runs of a routine that were due in the window, until all have
// ended or the grace is over.
func (s *salvo) wait(ctx context.Context, r *firing) error {
	for {
		said, err := s.ask(ctx, http.MethodGet, "/"+r.Name+"/runs?limit=500", nil)
		if err != nil {
			return err
		}
		var page struct{ Items []chela.RoutineRun }
		if err := json.Unmarshal(said, &page); err != nil {
			return err
		}
		r.runs = slices.DeleteFunc(page.Items, func(run chela.RoutineRun) bool { return run.Due.Before(s.begin) || !run.Due.Before(s.end) })
		open := slices.ContainsFunc(r.runs, func(run chela.RoutineRun) bool { return !run.State.Ended() })
		if len(r.runs) >= r.due && !open || s.Now().After(s.end.Add(s.Grace)) {
			return nil
		}
		if err := measure.Pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// ask sends a request about routines and returns the answer. The body is JSON of
// what is asked for; nil is none.
func (s *salvo) ask(ctx context.Context, method, path string, wanted *firing) ([]byte, error) {
	var body []byte
	if wanted != nil {
		var err error
		if body, err = json.Marshal(wanted); err != nil {
			return nil, err
		}
	}
	req, err := s.request(ctx, method, s.URL+"/api/routines"+path, body)
	if err != nil {
		return nil, err
	}
	res, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		err = chela.E(chela.Unavailable, fmt.Sprintf("%s was answered with %s: %s", method, res.Status, bytes.TrimSpace(said)))
	}
	return said, err
}

// spans are times of runs after they were due.
type spans struct{ fired, begun, ended []time.Duration }

func (s *spans) add(run chela.RoutineRun) {
	s.fired = append(s.fired, run.CreatedAt.Sub(run.Due))
	s.begun = append(s.begun, run.StartedAt.Sub(run.Due))
	s.ended = append(s.ended, run.FinishedAt.Sub(run.Due))
}

func (s *spans) delays() Delays {
	return Delays{Fired: measure.QuantilesOf(s.fired), Begun: measure.QuantilesOf(s.begun), Ended: measure.QuantilesOf(s.ended)}
}

func (s *salvo) report() *FiresReport {
	report := &FiresReport{Routines: len(s.all), Actions: map[chela.ActionKind]Delays{}}
	var total spans
	actions := map[chela.ActionKind]*spans{}
	for _, r := range s.all {
		report.Due += r.due
		report.Missing += max(r.due-len(r.runs), 0)
		of := actions[r.Action.Kind]
		if of == nil {
			of = &spans{}
			actions[r.Action.Kind] = of
		}
		for _, run := range r.runs {
			if run.CreatedAt.Before(run.Due) {
				report.Early++
			}
			if run.State != chela.RunOK {
				report.Failed++
				report.Said = cmp.Or(report.Said, r.Name+": "+string(run.State)+" "+run.Reason)
				continue
			}
			total.add(run)
			of.add(run)
		}
	}
	report.All = total.delays()
	for kind, of := range actions {
		report.Actions[kind] = of.delays()
	}
	return report
}
