package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/background/routine"
	"chela/internal/engine/approval"
	"chela/internal/safety"
	"chela/internal/tool"
)

// ownerPolicy is the configuration of an owner who has used chela for some
// months: rules for the hosts, commands and people of every day.
const ownerPolicy = `
[providers.scripted]
kind = "openai"
base_url = "$MODEL/v1"
api_key = "env:MODEL_KEY"
`

// ownerRules are the allowing rules, a tool with a pattern each.
var ownerRules = [][2]string{
	{"http", "GET https://en.wikipedia.org/*"},
	{"http", "GET https://de.wikipedia.org/*"},
	{"http", "GET https://api.open-meteo.com/*"},
	{"http", "GET https://news.ycombinator.com/*"},
	{"http", "GET https://api.github.com/*"},
	{"http", "GET https://raw.githubusercontent.com/*"},
	{"http", "GET https://pkg.go.dev/*"},
	{"http", "GET https://transport.opendata.ch/*"},
	{"http", "GET https://www.galaxus.ch/*"},
	{"http", "GET https://www.brack.ch/*"},
	{"http", "GET https://www.srf.ch/*"},
	{"http", "GET https://html.duckduckgo.com/html/*"},
	{"http", "GET http://hass.home.example:8123/*"},
	{"http", "POST http://hass.home.example:8123/api/services/light/*"},
	{"http", "POST https://ntfy.sh/ada-keller-phone"},
	{"http", "GET https://www.kellersoft.example/*"},
	{"shell", "go test *"},
	{"shell", "go vet *"},
	{"shell", "go build *"},
	{"shell", "gofmt *"},
	{"shell", "git add *"},
	{"shell", "git commit *"},
	{"shell", "make *"},
	{"shell", "python3 tools/*"},
	{"message", "terminal"},
}

// ownerDocuments are documents that the owner wrote.
var ownerDocuments = map[string]string{
	chela.DocUser:   "# User\n\n- Ada Keller, Bern; writes Go for a living\n- Partner: Eva, eva@keller.example; daughter: Mia\n",
	chela.DocMemory: "# Memory\n\n- The flat has 92 m² and a gas boiler of 2006.\n- Budget for the new laptop: 1,800 francs.\n",
}

// An ownerHome is a home with a model that makes the calls of scripted tasks.
type ownerHome struct {
	*testing.T
	*App
	files string // the workspace
	model *scriptedModel
	typed map[chela.SessionKey][]string // messages of the owner
	runs  bool                          // commands are run
}

func newOwnerHome(t *testing.T, tasks []errand) *ownerHome {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	h := &ownerHome{T: t, files: filepath.Join(home, "workspace", "main"), model: newScriptedModel(t, tasks), typed: map[chela.SessionKey][]string{}}
	var text strings.Builder
	text.WriteString(strings.ReplaceAll(ownerPolicy, "$MODEL", h.model.URL))
	for _, r := range ownerRules {
		fmt.Fprintf(&text, "[[policy]]\ntool = %q\npattern = %q\nverdict = \"allow\"\n", r[0], r[1])
	}
	h.put(filepath.Join(home, "config.toml"), text.String())
	h.App = runHome(t, playedHome(t, home, "scripted/model"), opening{version: "test", now: time.Now, played: h.played})
	if _, err := h.memory.Seed(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	h.restore()
	return h
}

// restore has the owner write the identity documents again, where a task changed
// them.
func (h *ownerHome) restore() {
	h.Helper()
	for path, text := range ownerDocuments {
		d, err := h.memory.Version(h.Context(), "main", path, 0)
		if err != nil && chela.KindOf(err) != chela.NotFound {
			h.Fatal(err)
		}
		if d.Text != text {
			h.document(path, text)
		}
	}
}

// document has the owner write a document.
func (h *ownerHome) document(path, text string) {
	h.Helper()
	e := chela.DocumentEdit{Key: string(h.ids.Request()), Author: chela.Author{By: "owner"}, Kind: chela.EditWrite, Agent: "main", Path: path, Text: text}
	if _, err := h.memory.Edit(h.Context(), e); err != nil {
		h.Fatal(err)
	}
}

func (h *ownerHome) put(path, text string) {
	h.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		h.Fatal(err)
	}
}

// pageLinks are links that the real pages have, as they write them: the interlanguage
// links of Wikipedia, the references of GitHub's API and the products of a list.
var pageLinks = map[string]string{
	"https://en.wikipedia.org/wiki/Gotthard_Base_Tunnel":                   `<a href="https://de.wikipedia.org/wiki/Gotthard-Basistunnel" lang="de">Deutsch</a>`,
	"https://api.github.com/repos/kellersoft/shop/actions/runs?per_page=1": `"jobs_url": "https://api.github.com/repos/kellersoft/shop/actions/runs/9912/jobs",`,
	"https://www.digitec.ch/en/s1/producttype/headphones-126":              `<a href="/en/s1/product/sony-wh-1000xm6">Sony WH-1000XM6</a>`,
}

// redirected finds the file that a command writes.
var redirected = regexp.MustCompile(`> ?([a-zA-Z0-9_./-]+)$`)

// played replaces the tools that reach other machines and run programs: they
// judge as always, and their results have the sources of the real ones.
func (h *ownerHome) played(t chela.Tool) chela.Tool {
	switch t.Name {
	case "http":
		t.Run = func(_ context.Context, call chela.ToolCall) (chela.ToolResult, error) {
			var in struct {
				URL    string
				SaveTo string `json:"save_to"`
			}
			if err := json.Unmarshal(call.Args, &in); err != nil {
				return chela.ToolResult{}, err
			}
			if in.SaveTo != "" {
				h.put(filepath.Join(h.files, in.SaveTo), "a page of "+in.URL)
			}
			return tool.Done("200 OK\n\na page of " + in.URL + "\n" + pageLinks[in.URL]), nil
		}
	case "shell":
		judge, run := t.Judge, t.Run
		t.Run = func(ctx context.Context, call chela.ToolCall) (res chela.ToolResult, _ error) {
			if h.runs {
				return run(ctx, call)
			}
			var in struct{ Command string }
			if err := json.Unmarshal(call.Args, &in); err != nil {
				return res, err
			}
			if to := redirected.FindStringSubmatch(in.Command); to != nil {
				h.put(filepath.Join(h.files, to[1]), "output")
			}
			res = tool.Done("exit code 0\nok")
			if hosts := judge(call.Args).Hosts; len(hosts) > 0 {
				res.Provenance = safety.Outside(hosts[0])
			}
			return res, nil
		}
	}
	return t
}

// play carries out a step of a task in its session.
func (h *ownerHome) play(session chela.SessionKey, s ownerStep) {
	h.Helper()
	ctx := h.Context()
	switch s.kind {
	case "say", "group":
		in := chela.Inbound{Agent: "main", Session: session, Origin: owner, Text: s.text, Input: chela.InputTyped}
		if s.kind == "group" {
			in.Session, in.Origin = "agent:main:slack:group:climbing", chela.Origin{Channel: "slack", Sender: "U1", Owner: true}
		}
		for _, name := range s.attached {
			a, err := h.blobs.Attach(ctx, name, strings.NewReader("the text of "+name))
			if err != nil {
				h.Fatal(err)
			}
			in.Attachments = append(in.Attachments, a)
		}
		if _, err := h.ingress.Say(ctx, in, func(chela.Event) {}); err != nil {
			h.Fatalf("say %q: %v", s.text, err)
		}
	case "fire", "hook":
		r := chela.Routine{
			Name: s.name, Agent: "main", Enabled: true, Origin: chela.Origin{Channel: "terminal", Owner: true}, Trigger: chela.Trigger{Kind: chela.TriggerManual},
			Action: chela.RoutineAction{Kind: chela.ActionTurn, Text: s.text},
		}
		if s.kind == "hook" {
			r.Trigger = chela.Trigger{Kind: chela.TriggerWebhook, Path: s.name, Scheme: "secret", Secret: "env:HOOK"}
		}
		made, err := h.background.Routines().Create(ctx, r, "owner")
		if err != nil {
			h.Fatal(err)
		}
		if s.kind == "fire" {
			_, err = h.background.Routines().Fire(ctx, made.ID, routine.Firing{By: "owner"})
		} else {
			q := api.HookRequest{Path: s.name, Query: url.Values{}, Header: http.Header{"X-Chela-Secret": {"hook-secret"}}, Body: []byte(`{"text": "hello"}`)}
			_, err = h.background.Routines().Hook(ctx, q)
		}
		if err != nil {
			h.Fatal(err)
		}
	}
	h.settle(ctx)
}

// answer allows everything that is asked once, and returns the questions.
func (h *ownerHome) answer() (asked []chela.Approval) {
	h.Helper()
	for {
		pending, err := api.All(h.Context(), api.Local{Operations: h.operations}, api.ApprovalsList, api.ApprovalFilter{State: chela.ApprovalPending})
		if err != nil {
			h.Fatal(err)
		}
		if len(pending) == 0 {
			return asked
		}
		for _, a := range pending {
			asked = append(asked, a)
			if _, err := h.approvals.Answer(h.Context(), approval.Reply{ID: a.ID, Answer: chela.AnswerOnce, By: "owner"}); err != nil {
				h.Fatal(err)
			}
		}
		h.settle(h.Context())
	}
}

// A scriptedModel is a server of a model that makes the calls of scripted tasks:
// those of the step whose text the newest message of a user holds.
type scriptedModel struct {
	*httptest.Server
	steps []ownerStep

	mu   sync.Mutex
	made int // guarded by mu; calls
}

func newScriptedModel(t *testing.T, tasks []errand) *scriptedModel {
	t.Helper()
	m := &scriptedModel{}
	for _, task := range tasks {
		m.steps = append(m.steps, task.steps...)
	}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

// calls returns the number of calls that the model made.
func (m *scriptedModel) calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.made
}

func (m *scriptedModel) serve(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Messages []wireMessage `json:"messages"`
		Stream   bool          `json:"stream"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var step ownerStep
	answers := 0
	for _, msg := range q.Messages {
		s := m.step(strings.Join(contentTexts(msg.Content), "\n"))
		switch {
		case msg.Role == "user" && s.text != "" && (s.kind != "job" || step.text == ""): // else a job's end
			step, answers = s, 0
		case len(msg.ToolCalls) > 0:
			answers++
		}
	}
	if answers >= len(step.calls) {
		reply(w, q.Stream, map[string]any{"role": "assistant", "content": "Done."}, "stop")
		return
	}
	m.mu.Lock()
	made := m.made
	m.made += len(step.calls[answers])
	m.mu.Unlock()
	var calls []any
	for i, c := range step.calls[answers] {
		calls = append(calls, map[string]any{
			"index": i, "id": fmt.Sprintf("call_%d", made+i), "type": "function",
			"function": map[string]any{"name": c.tool, "arguments": string(c.args)},
		})
	}
	reply(w, q.Stream, map[string]any{"role": "assistant", "tool_calls": calls}, "tool_calls")
}

// step returns the step with the longest text that a message holds.
func (m *scriptedModel) step(message string) (best ownerStep) {
	for _, s := range m.steps {
		if strings.Contains(message, s.text) && len(s.text) > len(best.text) {
			best = s
		}
	}
	return best
}

// finish waits until the model made a number of calls and all of them ended. It
// answers the questions, and returns them.
func (h *ownerHome) finish(calls int) (asked []chela.Approval) {
	h.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(5 * time.Second); h.model.calls() < calls; {
		select {
		case <-tick.C:
		case <-late:
			h.Errorf("the model made %d calls, want %d", h.model.calls(), calls)
			return asked
		}
		h.settle(h.Context())
		asked = append(asked, h.answer()...)
	}
	if got := h.model.calls(); got != calls {
		h.Errorf("the model made %d calls, want %d", got, calls)
	}
	h.settle(h.Context())
	return append(asked, h.answer()...)
}
