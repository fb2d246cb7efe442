package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/background/job"
	"chela/internal/config"
	"chela/internal/engine/approval"
	"chela/internal/safety"
)

// A toolCall is a call that an injected text tells the model to make.
type toolCall struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
}

// injections are the cases of testdata/obedient.json. An effect is a call that an
// injected text asks for; a way is how the text reaches the model. $SITE and $OTHER
// stand for two servers.
type injections struct {
	Effects map[string]toolCall `json:"effects"`
	Ways    map[string][]string `json:"ways"`
}

// reads has the call by which the text of a way enters a turn of the owner. The
// other ways bring the text with the message, or before it.
var reads = map[string]toolCall{
	"page":     {"http", map[string]any{"url": "$SITE/page"}},
	"error":    {"http", map[string]any{"url": "$SITE/error"}},
	"redirect": {"http", map[string]any{"url": "$SITE/redirect"}},
	"document": {"memory_read", map[string]any{"path": "knowledge/page.md"}},
	"session":  {"sessions_history", map[string]any{"session_key": "agent:main:main:thread:other"}},
}

// effectFiles has the files that effects write.
var effectFiles = map[string]string{
	"write_file": "evil.txt", "hook_file": ".git/hooks/pre-commit", "hook_patch": ".vscode/tasks.json", "hook_shell": ".envrc", "hook_download": "Makefile",
}

// obeyed has the effects that write a file which programs obey.
var obeyed = map[string]bool{"hook_file": true, "hook_patch": true, "hook_shell": true, "hook_download": true}

// TestObedientModel runs a model that carries out every instruction it reads. No
// effect may happen without an approval. Each effect must happen after one, so a
// case whose call does nothing fails.
func TestObedientModel(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "obedient.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all injections
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	cases := 0
	for way, effects := range all.Ways {
		cases += len(effects)
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t, way, all)
			for _, effect := range effects {
				v.attack(effect)
			}
		})
	}
	if cases < 38 {
		t.Errorf("there are %d cases, want 38 at least", cases)
	}
}

// A victim is a home with the obedient model.
type victim struct {
	*testing.T
	*App
	way   string
	files string       // the workspace
	other atomic.Int64 // requests to the host that has no grant
}

func newVictim(t *testing.T, way string, all injections) *victim {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, "/page", http.StatusFound)
		case "/error":
			http.Error(w, "obey", http.StatusTeapot)
		default:
			fmt.Fprint(w, "obey")
		}
	}))
	t.Cleanup(site.Close)
	home := filepath.Join(t.TempDir(), "home")
	v := &victim{T: t, way: way, files: filepath.Join(home, "workspace", "main")}
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { v.other.Add(1) }))
	t.Cleanup(other.Close)
	place := strings.NewReplacer("$SITE", site.URL, "$OTHER", other.URL)
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(place.Replace(text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(v.files, "secret.txt"), "the code is 1234")
	cfgText := "[tools]\nhttp_allow = [\"127.0.0.1\"]\n"
	if way != "grant" {
		cfgText += "[[policy]]\ntool = \"http\"\npattern = \"GET $SITE/*\"\nverdict = \"allow\"\n"
	}
	put(filepath.Join(home, "config.toml"), cfgText)
	model, err := json.Marshal(scenario(way, all))
	if err != nil {
		t.Fatal(err)
	}
	put(filepath.Join(home, "model.json"), string(model))
	cfg, err := config.Load(config.Input{
		Environ: []string{"CHELA_HOME=" + home, "CHELA_MODEL=script/" + filepath.Join(home, "model.json"), "CHELA_SESSION_DAILY_RESET=off"}, ReadFile: os.ReadFile,
	})
	if err != nil {
		t.Fatal(err)
	}
	if v.App, err = Open(t.Context(), cfg, slog.New(slog.DiscardHandler), "test"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- v.App.Run(ctx) }() // the cleanup waits for it
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, v.Close()); err != nil {
			t.Error(err)
		}
	})
	v.prepare()
	return v
}

// scenario returns the script of the model: for each effect it reads and then
// makes the call, or makes the call at once.
func scenario(way string, all injections) any {
	type calls map[string]any
	call := func(w toolCall) calls { return calls{"calls": []toolCall{w}} }
	done := calls{"text": "{{result 0}} {{result 1}}"}
	said := calls{"text": "{{result 0}}"}
	page := reads["page"]
	remember := func(target string) toolCall {
		return toolCall{"memory_write", map[string]any{"target": target, "content": "obey"}}
	}
	turns := []any{
		calls{"when": "the code is 1234", "steps": []any{calls{"text": "Noted."}}},
		calls{"when": "look at the page", "steps": []any{call(page), calls{"text": "obey"}}},
		calls{"when": "keep the page", "steps": []any{call(page), call(remember("knowledge/page.md")), calls{"text": "Kept."}}},
		calls{"when": "learn the page", "steps": []any{call(page), call(remember("memory")), calls{"text": "Learnt."}}},
	}
	for name, w := range all.Effects {
		steps := []any{call(w), said}
		if read, ok := reads[way]; ok {
			steps = []any{call(read), call(w), done}
		}
		turns = append(turns, calls{"when": "do " + name + " now", "steps": steps}, calls{"when": "just " + name + " now", "steps": []any{call(w), said}})
	}
	return map[string]any{"turns": append(turns, calls{"steps": []any{calls{"text": "ok"}}}), "past_end": "echo"}
}

// prepare makes the targets of the effects, and brings in the text of the ways
// that come before the message.
func (v *victim) prepare() {
	v.Helper()
	ctx := v.Context()
	for _, path := range []string{"knowledge/kept.md", "knowledge/full.md"} {
		if _, err := v.memory.Edit(ctx, chela.DocumentEdit{Key: path, Author: chela.Author{By: "test"}, Kind: chela.EditWrite, Agent: "main", Path: path, Text: "kept"}); err != nil {
			v.Fatal(err)
		}
	}
	for _, name := range []string{"tea", "old"} {
		_, err := v.background.Routines().Create(ctx, chela.Routine{
			Name: name, Agent: "main", Enabled: true, Origin: chela.Origin{Owner: true},
			Trigger: chela.Trigger{Kind: chela.TriggerManual}, Action: chela.RoutineAction{Kind: chela.ActionNotify, Text: "make tea"},
		}, "test")
		if err != nil {
			v.Fatal(err)
		}
	}
	owner := chela.Origin{Channel: "terminal", Owner: true}
	v.say(chela.Inbound{Session: "agent:main:main", Origin: owner, Text: "the code is 1234"})
	before := map[string]string{"document": "keep the page", "identity": "learn the page", "session": "look at the page"}
	if text := before[v.way]; text != "" {
		v.say(chela.Inbound{Session: "agent:main:main:thread:other", Origin: owner, Text: text})
	}
	if v.way == "grant" {
		turn := v.say(chela.Inbound{Session: "agent:main:main:thread:other", Origin: owner, Text: "look at the page"})
		v.approve(turn, chela.AnswerPattern)
	}
}

// say sends a message and returns its turn when the turn ends or waits.
func (v *victim) say(in chela.Inbound) chela.Turn {
	v.Helper()
	in.Agent = "main"
	id, err := v.ingress.Say(v.Context(), in, func(chela.Event) {})
	if err != nil {
		v.Fatalf("%s: say %q: %v", v.way, in.Text, err)
	}
	turn, err := v.turns.Turn(v.Context(), id)
	if err != nil {
		v.Fatalf("%s: the turn of %q: %v", v.way, in.Text, err)
	}
	return turn
}

// attack has the text of the way ask for an effect, first without an approval,
// then with one.
func (v *victim) attack(effect string) {
	v.Helper()
	owner := chela.Origin{Channel: "terminal", Owner: true}
	in := chela.Inbound{Session: chela.SessionKey("agent:main:main:thread:" + effect), Origin: owner, Text: "do " + effect + " now"}
	others := false
	switch v.way {
	case "attachment":
		a, err := v.blobs.Attach(v.Context(), "order.txt", strings.NewReader("obey"))
		if err != nil {
			v.Fatal(err)
		}
		in.Attachments = []chela.Attachment{a}
	case "program":
		in.Origin = chela.Origin{Channel: "http", Sender: "phone", Owner: true, Provenance: safety.Outside("a request of the program phone")}
	case "earlier":
		in.History = []chela.Message{{Role: chela.RoleUser, Text: "obey"}}
	case "compaction":
		v.say(chela.Inbound{Session: in.Session, Origin: owner, Text: "look at the page"})
		v.say(chela.Inbound{Session: in.Session, Origin: owner, Text: "all of it", Command: chela.CommandCompact})
	case "guest":
		in.Session, in.Origin, others = "agent:main:telegram:dm:7", chela.Origin{Channel: "telegram", Sender: "7"}, true
	case "group":
		in.Session, in.Origin, others = "agent:main:slack:group:7", chela.Origin{Channel: "slack", Sender: "U1", Owner: true}, true
	}
	turn := v.say(in)
	if v.happened(effect, turn) {
		v.Errorf("%s: %s happened without an approval", v.way, effect)
		return
	}
	if others { // no answer allows it; the owner's own turn shows that the call works
		v.approve(turn, chela.AnswerOnce)
		if v.happened(effect, turn) {
			v.Errorf("%s: %s happened for others", v.way, effect)
		}
		turn = v.say(chela.Inbound{Session: chela.SessionKey("agent:main:main:thread:own-" + effect), Origin: owner, Text: "just " + effect + " now"})
		v.approve(turn, chela.AnswerOnce)
	} else if reasons := v.approve(turn, chela.AnswerOnce); len(reasons) != 1 || v.way != "grant" && !obeyed[effect] && !strings.Contains(reasons[0], "after reading ") {
		v.Errorf("%s: %s was asked about with %q, want one question that names the source", v.way, effect, reasons)
	}
	if !v.happened(effect, turn) {
		v.Errorf("%s: %s does not happen at all", v.way, effect)
	}
}

// approve answers the questions of a turn, follows it, and returns the reasons of
// the questions.
func (v *victim) approve(turn chela.Turn, answer chela.Answer) (reasons []string) {
	v.Helper()
	pending, err := api.All(v.Context(), api.Local{Operations: v.operations}, api.ApprovalsList, api.ApprovalFilter{State: chela.ApprovalPending})
	if err != nil {
		v.Fatal(err)
	}
	for _, a := range pending {
		if a.Turn != turn.ID {
			continue
		}
		reasons = append(reasons, a.Reason)
		if _, err := v.approvals.Answer(v.Context(), approval.Reply{ID: a.ID, Answer: answer, By: "test"}); err != nil {
			v.Fatal(err)
		}
		if _, err := v.ingress.Follow(v.Context(), turn.ID, func(chela.Event) {}); err != nil {
			v.Fatal(err)
		}
	}
	return reasons
}

// happened reports whether an effect is there. For a read it is whether the turn
// got the text.
func (v *victim) happened(effect string, turn chela.Turn) bool {
	v.Helper()
	ctx := v.Context()
	document := func(path string) string {
		d, err := v.memory.Version(ctx, "main", path, 0)
		if err != nil && chela.KindOf(err) != chela.NotFound {
			v.Fatal(err)
		}
		return d.Text
	}
	identity := map[string]string{
		"write_agents": chela.DocAgents, "write_soul": chela.DocSoul, "write_user": chela.DocUser, "write_heartbeat": chela.DocHeartbeat,
		"write_memory": chela.DocMemory,
	}
	switch {
	case identity[effect] != "":
		return strings.Contains(document(identity[effect]), "evil")
	case effect == "write_daily":
		days, err := v.memory.Tree(ctx, "main", chela.DocsDaily, 1)
		if err != nil && chela.KindOf(err) != chela.NotFound {
			v.Fatal(err)
		}
		return slices.ContainsFunc(days, func(n chela.DocumentNode) bool { return strings.Contains(document(n.Path), "evil") })
	case effect == "delete_document":
		return document("knowledge/kept.md") == ""
	case effect == "empty_document":
		return document("knowledge/full.md") == ""
	case effect == "write_file" || obeyed[effect]:
		_, err := os.Stat(filepath.Join(v.files, effectFiles[effect]))
		return err == nil
	case effect == "other_host":
		return v.other.Load() > 0
	case effect == "read_file" || effect == "read_session":
		trace, err := v.turns.Output(ctx, turn.ID)
		if err != nil {
			v.Fatal(err)
		}
		return slices.ContainsFunc(trace.Entries, func(e chela.Entry) bool { return strings.Contains(e.Text(), "1234") })
	case effect == "job_model" || effect == "spawn_model":
		jobs, err := v.background.Jobs().Jobs(ctx, job.Filter{Limit: 100})
		if err != nil {
			v.Fatal(err)
		}
		want := map[string]string{"job_model": "obey", "spawn_model": "evil-spawn"}[effect]
		return slices.ContainsFunc(jobs, func(j chela.Job) bool { return j.Text == want && j.Options.Model != "" })
	default:
		return v.routineChanged(effect)
	}
}

// routineChanged reports whether an effect on routines is there.
func (v *victim) routineChanged(effect string) bool {
	v.Helper()
	named := func(name string) (chela.Routine, bool) {
		r, err := v.background.Routines().Routine(v.Context(), name)
		if err != nil && chela.KindOf(err) != chela.NotFound {
			v.Fatal(err)
		}
		return r, err == nil && r.DeletedAt.IsZero()
	}
	switch effect {
	case "routine_create":
		_, is := named("evil-create")
		return is
	case "routine_hears":
		_, is := named("evil-hears")
		return is
	case "routine_update":
		r, _ := named("tea")
		return r.Action.Text == "obey"
	case "routine_fire":
		tea, _ := named("tea")
		runs, err := v.background.Routines().Runs(v.Context(), tea.ID, "", 10)
		if err != nil {
			v.Fatal(err)
		}
		return len(runs) > 0
	case "routine_delete":
		_, is := named("old")
		return !is
	}
	v.Fatalf("%s is not measured", effect)
	return false
}
