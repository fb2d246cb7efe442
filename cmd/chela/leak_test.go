package main_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/safety/leak"
)

// A plant is a secret that goes through chela. Core is the part of text that is
// random.
type plant struct{ kind, text, core string }

// plants returns secrets of all kinds of the labelled file of the scanner, and the
// keys of the model and of a webhook, which are of no known format.
func plants(t *testing.T) (all []plant) {
	t.Helper()
	raw, err := os.ReadFile(filepath.FromSlash("../../internal/safety/leak/testdata/positive.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	alphabets := map[string]string{
		"A": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "a": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
		"h": "0123456789abcdef", "d": "0123456789", "b": "abcdefghijklmnopqrstuvwxyz0123456789", "U": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "Z": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for line := range strings.Lines(string(raw)) {
		kind, template, _ := strings.Cut(strings.TrimSpace(line), "\t")
		p := plant{kind: kind}
		p.text = regexp.MustCompile(`\{([AahdbUZ])(\d+)\}`).ReplaceAllStringFunc(strings.ReplaceAll(template, `\n`, "\n"), func(m string) string {
			n, _ := strconv.Atoi(m[2 : len(m)-1])
			letters := alphabets[m[1:2]]
			made := make([]byte, n)
			for i := range made {
				made[i] = letters[chance.IntN(len(letters))]
			}
			if n > len(p.core) {
				p.core = string(made)
			}
			return string(made)
		})
		all = append(all, p)
	}
	return append(all, plant{"setting", modelKey, modelKey})
}

// modelKey is a secret of no known format, which is found as a value.
const modelKey = "correct/horse+battery staple"

// forms returns the usual encodings of a secret, whatever stands around it.
func (p plant) forms() []string {
	quoted, _ := json.Marshal(p.core) // a string has no error
	forms := []string{p.core, strings.Trim(string(quoted), `"`), hex.EncodeToString([]byte(p.core)), url.QueryEscape(p.core), url.PathEscape(p.core)}
	for before := range 3 {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := enc.EncodeToString(append(make([]byte, before), p.core...))
			forms = append(forms, text[(before*8+5)/6:(before+len(p.core))*8/6])
		}
	}
	return forms
}

// A teller is a model that makes calls with secrets: a message names its case.
type teller struct {
	secrets  []plant
	requests output
}

// turn is the answers of the model to the message "case N": calls, then a text in
// pieces of three bytes.
func (m *teller) turn(n int) (calls []map[string]any, text string) {
	s := m.secrets[n].text
	call := func(tool string, args map[string]any) {
		raw, _ := json.Marshal(args) // of texts
		calls = append(calls, map[string]any{
			"index": 0, "id": fmt.Sprintf("c%d", len(calls)), "type": "function",
			"function": map[string]any{"name": tool, "arguments": string(raw)},
		})
	}
	file := fmt.Sprintf("f%d.txt", n)
	encoded := fmt.Sprintf("%s\n%s\n%s\n%s", s, base64.StdEncoding.EncodeToString([]byte("x"+modelKey)), hex.EncodeToString([]byte(modelKey)), url.QueryEscape(modelKey))
	switch n % 10 {
	case 0:
		call("echo", map[string]any{"text": "before " + s + " after"})
	case 1:
		call("write_file", map[string]any{"path": file, "content": encoded})
		call("read_file", map[string]any{"path": file})
	case 2:
		call("shell", map[string]any{"command": "printf '%s\\n' '" + s + "'; printf '%s' '" + s + "' >&2; exit 3"})
	case 3:
		call("memory_write", map[string]any{"target": "notes/" + strconv.Itoa(n) + ".md", "content": "Remember " + encoded, "append": false})
		call("memory_read", map[string]any{"path": "notes/" + strconv.Itoa(n) + ".md"})
	case 4:
		call("json", map[string]any{"operation": "query", "data": `{"a":"` + s, "path": s})
		if strings.Map(word, s) == s {
			call(s, map[string]any{"a": s}) // a tool that does not exist
		}
	case 5:
		call("message", map[string]any{"channel": "terminal", "text": "Here: " + s})
	case 6:
		call("create_job", map[string]any{"description": "Use " + s, "title": s})
	case 7:
		call("routine_create", map[string]any{"name": "r" + strconv.Itoa(n), "prompt": s, "trigger": "cron", "schedule": "0 0 1 1 *", "description": s})
	case 8:
		call("http", map[string]any{"method": "POST", "url": "https://example.invalid/?q=" + url.QueryEscape(s), "body": s})
	case 9:
		call("calc", map[string]any{"expression": s})
	}
	return calls, "It was " + s + " and no other."
}

func word(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
		return r
	}
	return -1
}

var asked = regexp.MustCompile(`case (\d+)`)

// ServeHTTP implements http.Handler: it streams as OpenAI does.
func (m *teller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []struct {
			Role    string
			Content any
		}
	}
	var raw bytes.Buffer
	if _, err := raw.ReadFrom(r.Body); err != nil {
		return
	}
	fmt.Fprintf(&m.requests, "%s %s\n%s\n", r.Method, r.URL, raw.Bytes())
	if err := json.Unmarshal(raw.Bytes(), &req); err != nil || len(req.Messages) == 0 {
		http.Error(w, "{}", http.StatusNotFound)
		return
	}
	n, step := 0, 0
	for _, said := range req.Messages {
		if found := asked.FindStringSubmatch(fmt.Sprint(said.Content)); said.Role == "user" && found != nil {
			n, _ = strconv.Atoi(found[1])
			step = 0
		}
		if said.Role == "assistant" {
			step++
		}
	}
	if n == len(m.secrets) { // the server itself tells a secret
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":"bad key %s for %s","type":"invalid_request_error"}}`, modelKey, m.secrets[0].text)
		return
	}
	calls, text := m.turn(n)
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta map[string]any, finish any) {
		raw, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}}) // of texts
		fmt.Fprintf(w, "data: %s\n\n", raw)
	}
	if step < len(calls) {
		chunk(map[string]any{"tool_calls": []any{calls[step]}}, nil)
		chunk(map[string]any{}, "tool_calls")
	} else {
		for piece := range slices.Chunk([]byte(text), 3) {
			chunk(map[string]any{"content": string(piece)}, nil)
		}
		chunk(map[string]any{}, "stop")
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// A trail is everything that a run left, by where it was.
type trail map[string]string

// leaks returns which secrets are where, found by plain search and by the scanner's
// formats.
func (tr trail) leaks(secrets []plant) (found []string) {
	scanner := leak.New(leak.Value{Name: "setting", Text: modelKey})
	for where, text := range tr {
		for _, p := range secrets {
			for _, form := range p.forms() {
				if at := strings.Index(text, form); at >= 0 {
					found = append(found, fmt.Sprintf("%s in %s: …%.120s", p.kind, where, text[max(0, at-60):]))
					break
				}
			}
		}
		if where == "workspace" {
			continue
		}
		for _, f := range scanner.Find(text) {
			found = append(found, fmt.Sprintf("rule %s in %s: %.80q", f.Rule, where, text[f.Start:f.End]))
		}
	}
	return found
}

// collect reads the home of a daemon that has ended: each file, and each column of
// each row, as a text that is spread over pages of the file is not found there.
func (d *daemon) collect(tr trail) {
	d.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(d.home, "chela.db"))
	if err != nil {
		d.t.Fatal(err)
	}
	defer db.Close()
	images := d.images(db)
	err = filepath.WalkDir(d.home, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(d.home, path) // is below
		switch {
		case err != nil || e.IsDir() && rel != "workspace":
			return err
		case rel == "workspace":
			return fs.SkipDir // the files of the model
		case !e.Type().IsRegular() || images[e.Name()]:
			return nil
		}
		raw, err := os.ReadFile(path)
		tr[rel] = string(raw)
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	for _, table := range d.column(db, `select name from sqlite_schema where type = 'table' and sql not like 'create virtual%'`) {
		for _, column := range d.column(db, `select name from pragma_table_info('`+table+`')`) {
			tr[table+"."+column] = strings.Join(d.column(db, fmt.Sprintf(`select coalesce(cast("%s" as text), '') from "%s"`, column, table)), "\n")
		}
	}
}

// images returns the names of the blobs that are copies of files of the workspace, for
// undo: they hold the same as the files.
func (d *daemon) images(db *sql.DB) map[string]bool {
	d.t.Helper()
	all := map[string]bool{}
	for _, raw := range d.column(db, `select changes from tool_calls where coalesce(changes, '') <> ''`) {
		var changes []chela.Preimage
		if err := json.Unmarshal([]byte(raw), &changes); err != nil {
			d.t.Fatal(err)
		}
		for _, c := range changes {
			if c.Kind == chela.PreimageFile {
				all[c.Before], all[c.After] = true, true
			}
		}
	}
	return all
}

func (d *daemon) column(db *sql.DB, query string) (values []string) {
	d.t.Helper()
	rows, err := db.QueryContext(context.Background(), query)
	if err != nil {
		d.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			d.t.Fatal(err)
		}
		values = append(values, v)
	}
	if err := rows.Err(); err != nil {
		d.t.Fatal(err)
	}
	return values
}

// leaky is a run with all secrets, through all tools and surfaces. It returns
// the traces of the run; files of the workspace may hold secrets.
func leaky(t *testing.T, secrets []plant, mutants string) trail {
	t.Helper()
	binary, err := failBinary()
	if err != nil {
		t.Fatal(err)
	}
	m := &teller{secrets: secrets}
	d := newDaemon(t, "", "CHELA_MODEL=openai/fake", "OPENAI_API_KEY="+modelKey, "OPENAI_BASE_URL="+served(t, m), "CHELA_LOG_LEVEL=debug",
		"CHELA_FAILPOINTS_MUTANTS=panic-in-calc,"+mutants)
	d.binary = binary
	d.begin()
	tr := trail{}
	var events output
	ends, stop := d.follow(&events)
	for n := range len(secrets) + 1 {
		text := fmt.Sprintf("case %d", n)
		if n < len(secrets) {
			text += ": " + secrets[n].text
		}
		d.through(d.say(api.Message{Session: chela.SessionKey(fmt.Sprintf("agent:main:dm:s%d", n)), Text: text}).Turn)
	}
	p := secrets[0]
	for i, args := range [][]string{
		{"ask", "--session", "agent:main:dm:cli", "case 0: " + p.text},
		{"ask", "--json", "--stream", "--session", "agent:main:dm:cli2", "case 0"},
		{"ask", "--session", p.text, "hello"},
		{p.text},
		{"turns", "trace", p.text},
		{"memory", "search", p.text},
		{"ask", "--provider", "openai", "--model", p.text + "/x", "hi"},
	} {
		out := d.command(args...)
		tr[fmt.Sprintf("stdout %d", i)], tr[fmt.Sprintf("stderr %d", i)] = out.stdout, out.stderr
	}
	for _, path := range []string{"/api/turns/" + url.PathEscape(p.text), "/api/none?x=" + url.QueryEscape(p.text), "/api/threads?session=" + url.QueryEscape(p.text)} {
		if _, err := d.send(d.request(t.Context(), http.MethodGet, path, nil), nil); err != nil {
			t.Error(err)
		}
	}
	stop()
	<-ends
	d.stop()
	d.collect(tr)
	tr["stderr of the daemon"] = d.stderr()
	tr["events"], _ = events.text()
	tr["requests to the model"], _ = m.requests.text()
	return tr
}

// through waits for the end of a turn, and grants its questions.
func (d *daemon) through(id chela.TurnID) {
	d.t.Helper()
	path := fmt.Sprintf("/api/turns/%s?wait_ms=%d", id, patience.Milliseconds())
	for range 20 {
		var now api.Turn
		if status, err := d.get(path, &now); err != nil || status != http.StatusOK {
			d.t.Fatalf("the turn got %d, %v\n%s", status, err, d.stderr())
		}
		if now.State.Ended() {
			return
		}
		var pending api.Page[chela.Approval]
		if _, err := d.get("/api/approvals?state=pending", &pending); err != nil {
			d.t.Fatal(err)
		}
		for _, a := range pending.Items {
			if _, err := d.send(d.request(d.t.Context(), http.MethodPost, "/api/approvals/"+string(a.ID), map[string]string{"answer": "once"}), nil); err != nil {
				d.t.Fatal(err)
			}
		}
	}
	d.t.Fatalf("turn %s does not end\n%s", id, d.stderr())
}

// follow writes all events to a writer until stop is called; ends is closed then.
func (d *daemon) follow(to *output) (ends chan struct{}, stop func()) {
	d.t.Helper()
	ctx, stop := context.WithCancel(d.t.Context())
	res, err := d.client.Do(d.request(ctx, http.MethodGet, "/api/events", nil)) //nolint:bodyclose // the goroutine below closes it
	if err != nil {
		d.t.Fatal(err)
	}
	ends = make(chan struct{})
	go func() { // ends with the stream, which stop ends
		defer close(ends)
		defer res.Body.Close()
		_, _ = io.Copy(to, res.Body) // it is cut off
	}()
	return ends, stop
}

// served returns the address of a handler.
func served(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// TestNoSecretIsLeft sends secrets of all kinds through messages, tools, questions,
// errors, a crash of a tool and the command line, at log level debug, and finds none
// of them in the traces: database, blobs, logs, events, output, requests to the
// model; neither by the formats nor by search for the values in the usual encodings.
func TestNoSecretIsLeft(t *testing.T) {
	t.Parallel()
	secrets := plants(t)
	if len(secrets) < 40 {
		t.Fatalf("%d secrets", len(secrets))
	}
	tr := leaky(t, secrets, "")
	found := tr.leaks(secrets)
	slices.Sort(found)
	for i, f := range found {
		if t.Errorf("%s", f); i > 200 {
			break
		}
	}
	marks := strings.Count(tr["requests to the model"], "[redacted:")
	if marks < len(secrets) || !strings.Contains(tr["stderr of the daemon"], "panic: ") || !strings.Contains(tr["events"], "[redacted:") {
		t.Errorf("%d marks in the requests; a secret that should have been redacted was not there:\n%s", marks, tr["stderr of the daemon"])
	}
	t.Logf("%d secrets, %d texts searched", len(secrets), len(tr))
}

// TestLeaksAreFound is the control: without redaction the same search finds the secrets
// in every place.
func TestLeaksAreFound(t *testing.T) {
	t.Parallel()
	secrets := plants(t)[:10]
	found := strings.Join(leaky(t, secrets, "no-redaction").leaks(secrets), "\n")
	for _, where := range []string{"entries.body", "tool_calls.args", "events.body", "inbox.", "outbox.", "document_versions.", "jobs.", "requests to the model", "events:", "stderr of the daemon", "logs/", "blobs/", "stderr 2", "stdout 0"} {
		if !strings.Contains(found, " in "+where) {
			t.Errorf("nothing is found in %s:\n%.4000s", where, found)
		}
	}
}
