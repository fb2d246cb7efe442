package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/gateway"
)

// keptRoutines is one routine, daily, with two runs of which the first has not
// ended, and one webhook, ci/build, which takes whatever holds "right".
func keptRoutines() gateway.RoutineAPI {
	daily := chela.Routine{
		ID: "rtn_1", Name: "daily", Agent: "main", Enabled: true, Version: 1, NextAt: time.Unix(100, 0), CreatedAt: time.Unix(1, 0), UpdatedAt: time.Unix(1, 0),
		Trigger: chela.Trigger{Kind: chela.TriggerEvery, Every: chela.Span(time.Minute), Anchor: time.Unix(40, 0)},
		Action:  chela.RoutineAction{Kind: chela.ActionTurn, Text: "look"},
	}
	runs := []chela.RoutineRun{
		{
			ID: "run_2", Routine: "rtn_1", Key: "k2", State: chela.RunOK, Cause: chela.TriggerEvery, Output: "all well", CreatedAt: time.Unix(2, 0),
			Report: &chela.Report{Notify: true, Text: "well"},
		},
		{ID: "run_1", Routine: "rtn_1", Key: "k1", State: chela.RunRunning, Cause: chela.TriggerManual, CreatedAt: time.Unix(1, 0)},
	}
	named := func(name string) error {
		if name == "daily" || name == "rtn_1" {
			return nil
		}
		return chela.E(chela.NotFound, "there is no routine "+name)
	}
	run := func(_ context.Context, id chela.RunID) (chela.RoutineRun, error) {
		for _, r := range runs {
			if r.ID == id {
				return r, nil
			}
		}
		return chela.RoutineRun{}, chela.E(chela.NotFound, "no such row")
	}
	return gateway.RoutineAPI{
		Routines: func(context.Context) ([]chela.Routine, error) { return []chela.Routine{daily}, nil },
		Routine:  func(_ context.Context, name string) (chela.Routine, error) { return daily, named(name) },
		Create: func(_ context.Context, v chela.Routine, by string) (chela.Routine, error) {
			v.ID, v.Description = "rtn_2", by
			return v, nil
		},
		Change: func(_ context.Context, name string, c api.RoutineChange, by string) (chela.Routine, error) {
			v := daily
			v.Description = by
			if c.Enabled != nil {
				v.Enabled = *c.Enabled
			}
			return v, named(name)
		},
		Delete: func(_ context.Context, name, _ string) error { return named(name) },
		Fire: func(_ context.Context, name string, f api.Firing, _ string) (chela.RunID, error) {
			return chela.RunID("run_" + strings.ReplaceAll(f.Key, " ", "_")), named(name)
		},
		Runs: func(_ context.Context, name string, before chela.RunID, limit int) ([]chela.RoutineRun, error) {
			left := runs
			if before == "run_2" {
				left = runs[1:]
			}
			return append([]chela.RoutineRun{}, left[:min(limit, len(left))]...), named(name)
		},
		Run: run,
		Ended: func(ctx context.Context, id chela.RunID, seen *string) (chela.RoutineRun, error) {
			r, err := run(ctx, id)
			if err == nil && !r.State.Ended() && (seen == nil || *seen == r.Waits) {
				<-ctx.Done()
				return r, ctx.Err()
			}
			return r, err
		},
		Next: func(_ context.Context, limit int) ([]api.Due, error) {
			return []api.Due{{At: daily.NextAt, Routine: daily.ID, Name: daily.Name, Trigger: daily.Trigger}}[:min(limit, 1)], nil
		},
		Hook: hooked,
	}
}

func hooked(_ context.Context, path string, header http.Header, body []byte) (api.Hooked, error) {
	switch said := string(body); {
	case path != "ci/build" || !strings.Contains(said, "right"):
		return api.Hooked{}, chela.E(chela.Denied, "the signature of "+path+" is wrong")
	case strings.Contains(said, "again"):
		return api.Hooked{Run: "run_1", Duplicate: true}, nil
	case strings.Contains(said, "off"):
		return api.Hooked{}, chela.E(chela.Unavailable, "routines are off")
	case header.Get("X-Slack-Signature") != "":
		return api.Hooked{Challenge: "3eZbrw"}, nil
	case strings.Contains(said, "broken"):
		return api.Hooked{}, errors.New("the disk is gone")
	default:
		return api.Hooked{Run: "run_1"}, nil
	}
}

// TestRoutinesAreMadeByWhoeverAsks: what is stored names the token and its origin,
// and the same key of two tokens names two wishes.
func TestRoutinesAreMadeByWhoeverAsks(t *testing.T) {
	t.Parallel()
	d := run(t)
	body := bodies["POST /api/routines"]
	made := decoded[chela.Routine](t, d.do(t, call{path: "/api/routines", secret: chatSecret, body: body}), http.StatusCreated)
	if want := (chela.Origin{Channel: "http", Account: "tok_chat", Sender: "chat", Owner: true}); made.Origin != want || made.Description != "token chat (tok_chat)" || !made.Enabled {
		t.Errorf("made %+v", made)
	}
	made = decoded[chela.Routine](t, d.do(t, call{path: "/api/routines", socket: true, body: body}), http.StatusCreated)
	if want := (chela.Origin{Channel: "terminal", Owner: true}); made.Origin != want || made.Description != "owner on this host" {
		t.Errorf("through the socket %+v", made)
	}
	for secret, want := range map[string]chela.RunID{chatSecret: "run_tok_chat_k", adminSecret: "run_tok_admin_k"} {
		a := d.do(t, call{path: "/api/routines/daily/fire", secret: secret, body: `{"key":"k"}`})
		if got := decoded[api.Fired](t, a, http.StatusAccepted); got.Run != want {
			t.Errorf("fired %s, want %s", got.Run, want)
		}
	}
}

// TestRunsArePaged: a list of runs leaves out what they said, a run has it.
func TestRunsArePaged(t *testing.T) {
	t.Parallel()
	d := run(t)
	first := decoded[api.Page[chela.RoutineRun]](t, d.do(t, call{path: "/api/routines/daily/runs?limit=1", secret: readSecret}), http.StatusOK)
	if len(first.Items) != 1 || first.Items[0].ID != "run_2" || first.Items[0].Output != "" || first.Next != "run_2" {
		t.Errorf("the first page is %+v", first)
	}
	rest := decoded[api.Page[chela.RoutineRun]](t, d.do(t, call{path: "/api/routines/daily/runs?limit=1&after=" + first.Next, secret: readSecret}), http.StatusOK)
	if len(rest.Items) != 1 || rest.Items[0].ID != "run_1" || rest.Next != "" {
		t.Errorf("the rest is %+v", rest)
	}
	one := decoded[chela.RoutineRun](t, d.do(t, call{path: "/api/runs/run_2", secret: readSecret}), http.StatusOK)
	if one.Output != "all well" {
		t.Errorf("the run is %+v", one)
	}
	patient := decoded[chela.RoutineRun](t, d.do(t, call{path: "/api/runs/run_1?wait_ms=1", secret: readSecret}), http.StatusOK)
	if patient.State != chela.RunRunning {
		t.Errorf("the run that was waited for is %+v", patient)
	}
	d.do(t, call{path: "/api/routines/daily/runs?limit=0", secret: readSecret}).refused(t, http.StatusBadRequest, chela.Invalid)
	told := decoded[chela.RoutineRun](t, d.do(t, call{path: "/api/runs/run_1?wait_ms=60000&waits=another", secret: readSecret}), http.StatusOK)
	if told.State != chela.RunRunning {
		t.Errorf("the run that does not wait for that is %+v", told)
	}
	d.do(t, call{path: "/api/runs/run_9?wait_ms=1", secret: readSecret}).refused(t, http.StatusNotFound, chela.NotFound)
	d.do(t, call{path: "/api/routines/nightly", secret: readSecret}).refused(t, http.StatusNotFound, chela.NotFound)
}

// TestWebhooks: who cannot sign learns nothing, neither whether there is a webhook nor
// what is wrong, and no body is logged.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	d := run(t, func(c *gateway.Config) { c.HookBytes = 64 })
	var refusals []string
	for _, path := range []string{"/hooks/ci/build", "/hooks/ci", "/hooks/no/such", "/hooks/CI/%2e"} {
		a := d.do(t, call{path: path, body: "wrong pa55word"})
		a.refused(t, http.StatusUnauthorized, chela.Denied)
		refusals = append(refusals, strings.ReplaceAll(a.body, a.header.Get(api.RequestIDHeader), ""))
	}
	for _, r := range refusals {
		if r != refusals[0] {
			t.Errorf("refusals differ: %s and %s", refusals[0], r)
		}
	}
	for _, c := range []struct {
		name   string
		body   string
		header map[string]string
		status int
		want   string
	}{
		{"taken", "right", nil, http.StatusAccepted, `{"run":"run_1"}`},
		{"taken before", "right again", nil, http.StatusOK, `{"run":"run_1","duplicate":true}`},
		{"asked whether somebody is there", "right", map[string]string{"X-Slack-Signature": "v0=00"}, http.StatusOK, `{"challenge":"3eZbrw"}`},
		{"too large", "right" + strings.Repeat("x", 64), nil, http.StatusRequestEntityTooLarge, "64 bytes"},
		{"while routines are off", "right off", nil, http.StatusServiceUnavailable, "routines are off"},
		{"a fault of chela", "right broken", nil, http.StatusInternalServerError, "internal"},
		{"from a page", "right", map[string]string{"Origin": "https://evil.example"}, http.StatusForbidden, "another site"},
	} {
		a := d.do(t, call{path: "/hooks/ci/build", body: c.body, header: c.header})
		if a.status != c.status || !strings.Contains(a.body, c.want) {
			t.Errorf("%s: %d %s", c.name, a.status, a.body)
		}
		if a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", c.name)
		}
	}
	if strings.Contains(d.log.String(), "pa55word") {
		t.Error("a body is in the log")
	}
}

// TestWebhooksAreMetered: an address that asks too often is told when to come back,
// before anybody looks at what it sends.
func TestWebhooksAreMetered(t *testing.T) {
	t.Parallel()
	d := run(t, func(c *gateway.Config) { c.HooksPerMinute = 2 })
	for range 2 {
		d.do(t, call{path: "/hooks/ci/build", body: "wrong"}).refused(t, http.StatusUnauthorized, chela.Denied)
	}
	a := d.do(t, call{path: "/hooks/ci/build", body: "right"})
	a.refused(t, http.StatusTooManyRequests, chela.Exhausted)
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if a := d.do(t, call{path: "/hooks/ci/build", body: "right", socket: true}); a.status != http.StatusAccepted {
		t.Errorf("through the socket: %d %s", a.status, a.body)
	}
}
