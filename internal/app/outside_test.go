package app_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli"
)

// served serves a home that plays twoWays, with a way for commands in.
func served(t *testing.T) (*daemon, *cli.Backend) {
	t.Helper()
	cfg := newHome(t, twoWays)
	d := serveHome(t, cfg)
	return d, openBackend(t, cfg)
}

// said says something in a session and waits for the answer.
func said(t *testing.T, d *daemon, key chela.SessionKey, text string) api.Turn {
	t.Helper()
	receipt := gets[api.Receipt](t, d, "POST /api/messages", fmt.Sprintf(`{"session":%q,"text":%q}`, key, text))
	turn := receipt.Turn
	if turn == "" {
		t.Fatalf("the message %q waits: %+v", text, receipt)
	}
	return gets[api.Turn](t, d, "GET /api/turns/"+string(turn)+"?wait_ms=60000", "")
}

func TestSessionsInPages(t *testing.T) {
	t.Parallel()
	d, _ := served(t)
	var all, active []string
	for n := range 7 {
		key := laneKey(n)
		said(t, d, key, "hello")
		all = append(all, string(key))
		if n%2 == 1 {
			gets[chela.Session](t, d, "DELETE /api/sessions/"+string(key), "")
			continue
		}
		active = append(active, string(key))
	}
	pages := func(query string) (keys []string) {
		for after := ""; ; {
			page := gets[api.Page[chela.Session]](t, d, "GET /api/sessions?limit=2"+query+after, "")
			if len(page.Items) > 2 {
				t.Errorf("a page of 2 has %d", len(page.Items))
			}
			for _, s := range page.Items {
				keys = append(keys, string(s.Key))
			}
			if page.Next == "" {
				return keys
			}
			after = "&after=" + page.Next
		}
	}
	if diff := cmp.Diff(active, pages("")); diff != "" {
		t.Errorf("sessions (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(all, pages("&archived=true")); diff != "" {
		t.Errorf("sessions, archived ones too (-want +got)\n%s", diff)
	}

	said(t, d, laneKey(1), "I am back")
	if got := gets[chela.Session](t, d, "GET /api/sessions/"+string(laneKey(1)), ""); !got.Settings.ArchivedAt.IsZero() {
		t.Errorf("who spoke in it is archived still: %+v", got.Settings)
	}
}

func TestSessionIsChanged(t *testing.T) {
	t.Parallel()
	d, _ := served(t)
	const path = "PATCH /api/sessions/agent:main:main"
	first := said(t, d, "agent:main:main", "hello")
	got := gets[chela.Session](t, d, path, `{"label":"home","model":"offline/rules","thinking":"low","queue_mode":"followup"}`)
	want := chela.Settings{Label: "home", Model: "offline/rules", Thinking: chela.ThinkingLow, Queue: chela.QueueSettings{Mode: chela.QueueFollowup}, Last: got.Settings.Last}
	if diff := cmp.Diff(want, got.Settings); diff != "" {
		t.Errorf("settings (-want +got)\n%s", diff)
	}
	if turn := said(t, d, "agent:main:main", "compute 2+2"); turn.Model != "offline/rules" || !strings.Contains(turn.Answer, "4") {
		t.Errorf("the model of the session does not answer: %+v", turn)
	}
	reset := gets[chela.Thread](t, d, "POST /api/sessions/agent:main:main/reset", "")
	if got := gets[chela.Session](t, d, "GET /api/sessions/agent:main:main", ""); got.Thread != reset.ID || got.Settings.Label != "home" {
		t.Errorf("after a reset the session is %+v, want thread %s", got, reset.ID)
	}
	back := gets[chela.Session](t, d, path, fmt.Sprintf(`{"label":"","model":"","thinking":"","queue_mode":"","thread":%q}`, first.Thread))
	want = chela.Settings{Last: back.Settings.Last}
	if diff := cmp.Diff(want, back.Settings); diff != "" || back.Thread != first.Thread {
		t.Errorf("thread %s, settings (-want +got)\n%s", back.Thread, diff)
	}
	if turn := said(t, d, "agent:main:main", "hello again"); turn.Thread != first.Thread || turn.Answer != "You said hello again." {
		t.Errorf("in the old thread: %+v", turn)
	}
}

func TestSettingsThatAreRefused(t *testing.T) {
	t.Parallel()
	d, _ := served(t)
	said(t, d, "agent:main:main", "hello")
	other := said(t, d, "agent:main:dm:al", "hello")
	before := gets[chela.Session](t, d, "GET /api/sessions/agent:main:main", "")
	for name, tt := range map[string]struct {
		key, body string
		status    int
	}{
		"thinking of no level":       {"agent:main:main", `{"thinking":"hard"}`, http.StatusBadRequest},
		"queue mode that is none":    {"agent:main:main", `{"queue_mode":"later"}`, http.StatusBadRequest},
		"model of no provider":       {"agent:main:main", `{"model":"nobody/at-all"}`, http.StatusNotFound},
		"model without a key":        {"agent:main:main", `{"model":"openai/some-model"}`, http.StatusForbidden},
		"thread of somebody else":    {"agent:main:main", fmt.Sprintf(`{"label":"x","thread":%q}`, other.Thread), http.StatusBadRequest},
		"thread that is not there":   {"agent:main:main", `{"thread":"thr_nobody"}`, http.StatusNotFound},
		"what is no setting":         {"agent:main:main", `{"labell":"x"}`, http.StatusBadRequest},
		"session that is not there":  {"agent:main:dm:nobody", `{"label":"x"}`, http.StatusNotFound},
		"session key that is no key": {"main", `{"label":"x"}`, http.StatusBadRequest},
	} {
		var refusal api.ErrorBody
		status := d.asks(t, "PATCH /api/sessions/"+tt.key, tt.body, &refusal)
		if status != tt.status || api.StatusOf(refusal.Error.Kind) != tt.status || refusal.Error.Message == "" {
			t.Errorf("%s: %d, want %d: %+v", name, status, tt.status, refusal.Error)
		}
	}
	if diff := cmp.Diff(before, gets[chela.Session](t, d, "GET /api/sessions/agent:main:main", "")); diff != "" {
		t.Errorf("the session changed (-before +after)\n%s", diff)
	}
}

// TestResetWhileATurnRuns lets the turn go on in its own thread, and what is said
// next goes into the new one.
func TestResetWhileATurnRuns(t *testing.T) {
	t.Parallel()
	d, b := served(t)
	running := gets[api.Receipt](t, d, "POST /api/messages", `{"text":"talk on"}`)
	reset := gets[chela.Thread](t, d, "POST /api/sessions/agent:main:main/reset", "")
	next := gets[api.Receipt](t, d, "POST /api/messages", `{"text":"hello","message_id":"next"}`)
	if reset.ID == running.Thread || next.Thread != reset.ID || next.Turn != "" {
		t.Errorf("thread %s, then %s; the next message: %+v", running.Thread, reset.ID, next)
	}
	gets[api.Turn](t, d, "POST /api/turns/"+string(running.Turn)+"/cancel", "")
	stopped := gets[api.Turn](t, d, "GET /api/turns/"+string(running.Turn)+"?wait_ms=60000", "")
	if stopped.State != chela.TurnInterrupted || stopped.Thread != running.Thread {
		t.Errorf("the turn that ran: %+v", stopped.Turn)
	}
	turn, err := b.Ask(t.Context(), message("agent:main:main", "last", "and then"), func(chela.Event) {})
	if err != nil || turn.Thread != reset.ID {
		t.Errorf("the last turn is in thread %s, want %s: %v", turn.Thread, reset.ID, err)
	}
	entries := gets[api.Page[chela.Entry]](t, d, "GET /api/threads/"+string(reset.ID)+"/entries?path=true", "")
	if len(entries.Items) == 0 || entries.Items[0].Text() != "hello" {
		t.Errorf("the new thread begins with %+v", entries.Items)
	}
	if s := gets[chela.Session](t, d, "GET /api/sessions/agent:main:main", ""); s.Thread != reset.ID {
		t.Errorf("the session has thread %s, want %s", s.Thread, reset.ID)
	}
}

// TestTurnFromOutside is seen by its outcome, its entries in pages, its calls
// and its trace.
func TestTurnFromOutside(t *testing.T) {
	t.Parallel()
	d, _ := served(t)
	waits := said(t, d, "agent:main:main", "go")
	if waits.State != chela.TurnAwaiting || waits.Answer != "Now I run it." || len(waits.Approvals) != 1 {
		t.Fatalf("the turn that waits: %+v", waits)
	}
	question := waits.Approvals[0]
	gets[chela.Approval](t, d, "POST /api/approvals/"+string(question.ID), `{"answer":"once"}`)
	path := "GET /api/turns/" + string(waits.ID)
	done := gets[api.Turn](t, d, path+"?wait_ms=60000", "")
	if done.State != chela.TurnCompleted || done.Answer != "It ran." || len(done.Approvals) != 0 {
		t.Errorf("the turn that ended: %+v", done)
	}

	trace := gets[api.Trace](t, d, path+"/trace", "")
	var calls []string
	for _, c := range trace.Calls {
		calls = append(calls, c.Tool+" "+string(c.State))
	}
	if diff := cmp.Diff([]string{"calc done", "shell done"}, calls); diff != "" {
		t.Errorf("calls (-want +got)\n%s", diff)
	}
	if trace.Turn.ID != waits.ID || len(trace.Approvals) != 1 || trace.Approvals[0].State != chela.ApprovalGranted || len(trace.Usage) != 3 {
		t.Errorf("the trace: %+v, approvals %+v, %d rows of usage", trace.Turn, trace.Approvals, len(trace.Usage))
	}

	var seqs []int64
	for after := "0"; after != ""; {
		page := gets[api.Page[chela.Entry]](t, d, fmt.Sprintf("GET /api/threads/%s/entries?limit=4&after=%s", waits.Thread, after), "")
		for _, e := range page.Items {
			seqs = append(seqs, e.Seq)
		}
		after = page.Next
	}
	if diff := cmp.Diff([]int64{1, 2, 3, 4, 5, 6}, seqs); diff != "" || len(trace.Entries) != 6 {
		t.Errorf("%d entries in the trace, in pages (-want +got)\n%s", len(trace.Entries), diff)
	}
	var refusal api.ErrorBody
	for _, nothing := range []string{"/api/turns/turn_nobody", "/api/turns/turn_nobody/trace", "/api/threads/thr_nobody/entries"} {
		if status := d.asks(t, "GET "+nothing, "", &refusal); status != http.StatusNotFound {
			t.Errorf("%s is %d", nothing, status)
		}
	}
}

// TestFilesThatWereKept can be sent again by their hash, and by nothing else.
func TestFilesThatWereKept(t *testing.T) {
	t.Parallel()
	d, _ := served(t)
	kept := gets[chela.Attachment](t, d, "POST /api/attachments?name=note.txt", "a note")
	send := func(sha256 string) (status int) {
		var any map[string]any
		return d.asks(t, "POST /api/messages", fmt.Sprintf(`{"text":"see","attachments":[{"name":"again.txt","media_type":"text/plain","sha256":%q}]}`, sha256), &any)
	}
	if status := send(kept.SHA256); status != http.StatusAccepted {
		t.Errorf("what was kept: %d", status)
	}
	for _, wrong := range []string{"../../config.toml", strings.ToUpper(kept.SHA256), kept.SHA256[:63], kept.SHA256 + "\n"} {
		if status := send(wrong); status != http.StatusBadRequest {
			t.Errorf("hash %q: %d", wrong, status)
		}
	}
	if status := send(strings.Repeat("0", 64)); status != http.StatusNotFound {
		t.Errorf("what was not kept: %d", status)
	}
	entries := gets[api.Page[chela.Entry]](t, d, "GET /api/threads/"+string(gets[chela.Session](t, d, "GET /api/sessions/agent:main:main", "").Thread)+"/entries", "")
	want := []chela.Attachment{{Name: "again.txt", MediaType: "text/plain", SHA256: kept.SHA256, Size: 6}}
	if diff := cmp.Diff(want, entries.Items[0].Attachments()); diff != "" {
		t.Errorf("attachments (-want +got)\n%s", diff)
	}
}

// TestAgentsOfAHome has those of the configuration, and main.
func TestAgentsOfAHome(t *testing.T) {
	t.Parallel()
	cfg := newHome(t, twoWays)
	if err := os.MkdirAll(string(cfg.Home), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cfg.Home.ConfigFile(), []byte("[agents.research]\nprompt = \"Look closely.\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := serveHome(t, loaded(t, "CHELA_HOME="+string(cfg.Home), "CHELA_MODEL="+cfg.Model, "CHELA_LISTEN=127.0.0.1:0"))
	for agent, want := range map[string]int{"main": http.StatusAccepted, "research": http.StatusAccepted, "nobody": http.StatusNotFound} {
		var any map[string]any
		if status := d.asks(t, "POST /api/messages", fmt.Sprintf(`{"agent":%q,"text":"hello"}`, agent), &any); status != want {
			t.Errorf("agent %q: %d, want %d", agent, status, want)
		}
	}
}
