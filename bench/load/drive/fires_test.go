package drive_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/bench/load/drive"
	"chela/bench/load/measure"
)

// noon is when the clocks of these tests begin.
var noon = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// steps is a clock that goes on by ten seconds whenever it is asked.
func steps() func() time.Time {
	var mu sync.Mutex
	now := noon
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		defer func() { now = now.Add(10 * time.Second) }()
		return now
	}
}

// A timetable is a server that has routines, each of which fires once.
type timetable struct {
	fire func(run *chela.RoutineRun) bool // changes the run of a routine; false means there is none

	mu      sync.Mutex
	dues    map[string]time.Time // by name; under mu
	deleted int                  // under mu
}

func (s *timetable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, _, runs := strings.Cut(strings.TrimPrefix(r.URL.Path, "/api/routines/"), "/runs")
	switch {
	case r.Method == http.MethodPost:
		var made struct {
			Name    string
			Trigger chela.Trigger
		}
		if err := json.NewDecoder(r.Body).Decode(&made); err != nil || s.dues[made.Name] != (time.Time{}) {
			http.Error(w, "no routine, or a second one", http.StatusBadRequest)
			return
		}
		s.dues[made.Name] = first(made.Trigger)
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodDelete:
		s.deleted++
		w.WriteHeader(http.StatusNoContent)
	case runs:
		s.tell(w, s.dues[name])
	default:
		http.NotFound(w, r)
	}
}

// first returns when a trigger is due for the first time on the first of March.
func first(t chela.Trigger) time.Time {
	switch t.Kind {
	case chela.TriggerAt:
		return t.At
	case chela.TriggerEvery:
		return t.Anchor
	default:
		clock, _ := time.Parse("5 4 15 * * *", t.Cron) // the zero time is never due
		return noon.Truncate(24 * time.Hour).Add(clock.Sub(clock.Truncate(24 * time.Hour)))
	}
}

// tell tells of a run that is in time, as fire changes it, and of one before the
// window.
func (s *timetable) tell(w http.ResponseWriter, due time.Time) {
	run := chela.RoutineRun{
		Due: due, State: chela.RunOK, CreatedAt: due.Add(5 * time.Millisecond),
		StartedAt: due.Add(10 * time.Millisecond), FinishedAt: due.Add(20 * time.Millisecond),
	}
	items := []chela.RoutineRun{{Due: noon}}
	if s.fire(&run) {
		items = append(items, run)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"items": items}) // whoever asked sees what is cut
}

func TestFires(t *testing.T) {
	t.Parallel()
	q := func(n int, ms float64) measure.Quantiles {
		return measure.Quantiles{Count: n, P50: ms, P95: ms, P99: ms, Max: ms}
	}
	for _, tt := range []struct {
		name string
		fire func(run *chela.RoutineRun) bool
		want drive.FiresReport
	}{
		{"in time", func(*chela.RoutineRun) bool { return true }, drive.FiresReport{
			All: drive.Delays{Fired: q(16, 5), Begun: q(16, 10), Ended: q(16, 20)},
		}},
		{"none", func(*chela.RoutineRun) bool { return false }, drive.FiresReport{Missing: 16}},
		{"early", func(run *chela.RoutineRun) bool {
			run.CreatedAt = run.Due.Add(-time.Millisecond)
			return true
		}, drive.FiresReport{Early: 16, All: drive.Delays{Fired: q(16, -1), Begun: q(16, 10), Ended: q(16, 20)}}},
		{"failed", func(run *chela.RoutineRun) bool {
			run.State, run.Reason = chela.RunFailed, "no luck"
			return true
		}, drive.FiresReport{Failed: 16, Said: "r-0: failed no luck"}},
		{"without an end", func(run *chela.RoutineRun) bool {
			run.State = chela.RunRunning
			return true
		}, drive.FiresReport{Failed: 16, Said: "r-0: running "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			table := &timetable{fire: tt.fire, dues: map[string]time.Time{}}
			server := httptest.NewServer(table)
			t.Cleanup(server.Close)
			f := drive.Fires{Target: drive.Target{URL: server.URL + "/v1"}, Routines: 16, Window: 3 * time.Second, Lead: 15 * time.Second, Prefix: "r", Now: steps()}
			got, err := f.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			table.mu.Lock()
			defer table.mu.Unlock()
			if len(got.Actions) != 4 || table.deleted != 16 {
				t.Errorf("%d kinds of action, %d deleted", len(got.Actions), table.deleted)
			}
			tt.want.Routines, tt.want.Due, got.Actions = 16, 16, nil
			if diff := cmp.Diff(tt.want, *got); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFiresRefused(t *testing.T) {
	t.Parallel()
	table := &timetable{dues: map[string]time.Time{}}
	good := httptest.NewServer(table)
	t.Cleanup(good.Close)
	bad := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(bad.Close)
	for _, tt := range []struct{ name, url, want string }{
		{"no such route", bad.URL, "404"},
		{"made too late", good.URL, "after the first was due"},
	} {
		f := drive.Fires{Target: drive.Target{URL: tt.url}, Lead: time.Second, Now: steps()}
		if _, err := f.Run(t.Context()); chela.KindOf(err) != chela.Unavailable || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v", tt.name, err)
		}
	}
}
