package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"chela"
	"chela/internal/api"
	"chela/internal/store"
)

// zone has the names of the world. A list of several answers changes from one
// look-up to the next.
func zone() map[string][]string {
	const six = "2606:2800:220:1::1"
	many := strings.TrimSpace(strings.Repeat(publicAddress+" ", 24)) + " 10.0.0.1"
	z := map[string][]string{
		"six.example": {six}, "dual.example": {publicAddress + " " + six},
		"cname.example": {"public.example " + publicAddress}, "mapped-public.example": {"::ffff:" + publicAddress},

		"private.example": {"10.0.0.1"}, "mapped.example": {"::ffff:192.168.0.1"}, "nat64.example": {"64:ff9b::a00:1"},
		"mixed.example": {"127.0.0.1 " + publicAddress}, "mixed-last.example": {publicAddress + " " + six + " 169.254.169.254"},
		"two-families.example": {publicAddress + " ::1"}, "two-families-6.example": {six + " 10.0.0.1"}, "many.example": {many},
		"cname-private.example": {"private.example 10.0.0.1"}, "cname-localhost.example": {"localhost 127.0.0.1"},
		"cname-chain.example": {"public.example a.example metadata.google.internal 169.254.169.254"},
		"zero.example":        {"0.0.0.0"}, "teredo.example": {"2001:0:7f00:1::1"}, "6to4.example": {"2002:7f00:1::"},
		"local.example": {"fe80::1"}, "multicast.example": {"ff02::1"},
		"intern.corp.example": {"10.0.0.7"}, "127.0.0.1.wildcard.example": {"127.0.0.1"},
		"metadata.azure.internal": {"169.254.169.254"}, "instance-data.ec2.internal": {"169.254.169.254"},
		"metadata.tencentyun.example": {"169.254.0.23"}, "metadata.packet.example": {"192.80.8.124 169.254.169.254"},
		"metadata.platformequinix.example": {"fd00:ec2::254"},
		"inner.example":                    {"10.0.0.9"}, "token.example": {"10.0.0.1"},
	}
	for _, name := range []string{
		"public.example", "hooks.example", "provider.example", "xn--bcher-kva.example", "127.0.0.1.public.example", "localhost.public.example",
		"metadata.google.internal.public.example", "169.254.169.254.public.example",
		// Refused by name, whatever they resolve to.
		"localhost", "sub.localhost", "foo.localhost", "localhost.localhost", "public.example.localhost",
		"metadata", "metadata.goog", "metadata.google.internal", "instance-data",
	} {
		z[name] = []string{publicAddress}
	}
	for i := range rebinds {
		later := []string{"127.0.0.1", "169.254.169.254", "::1 " + publicAddress, publicAddress + " 10.0.0.1"}[i%4]
		for _, way := range []string{"http", "hop", "image", "shell"} {
			z[rebinding(way, i)] = []string{publicAddress, later}
		}
		z[rebinding("back", i)] = []string{later, publicAddress}
	}
	return z
}

// rebinds is the number of names whose answer changes, for each way out.
const rebinds = 12

func rebinding(way string, i int) string { return fmt.Sprintf("%s-%d.rebind.example", way, i) }

// lines returns the lines of a file that are no comments. A line in quotes is a Go
// string.
func lines(t *testing.T, path string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if line[0] == '"' {
			if line, err = strconv.Unquote(line); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, line)
	}
	return all
}

// A fetch is a call of the tool http.
type fetch struct{ method, url string }

func gets(urls ...string) (calls []fetch) {
	for _, u := range urls {
		calls = append(calls, fetch{http.MethodGet, u})
	}
	return calls
}

// A suite is everything that is tried, with the model that makes the calls.
type suite struct {
	*daemon
	world *internet

	hosts  []string // refused, as in a URL
	urls   []string // refused
	public []string // an address, a tab and a URL that reaches it
	model  string   // the file of the scenario
	turns  []map[string]any
	tries  int // that were made
}

// newSuite returns a suite in a world of its own, with a daemon that has not begun.
func newSuite(t *testing.T) *suite {
	t.Helper()
	s := &suite{
		hosts:  lines(t, "../../internal/safety/guard/testdata/refused.txt"),
		urls:   lines(t, "testdata/ssrf/refused_urls.txt"),
		public: lines(t, "testdata/ssrf/public_urls.txt"),
		model:  filepath.Join(t.TempDir(), "model.json"),
	}
	var public []string
	for _, line := range s.public {
		addr, _, _ := strings.Cut(line, "\t")
		public = append(public, addr)
	}
	s.world = newInternet(t, zone(), public)
	s.daemon = newDaemon(t, "", "CHELA_MODEL=script/"+s.model, "CHELA_HEARTBEAT_ENABLED=false",
		"CHELA_SANDBOX_NETWORK=listed", "CHELA_SANDBOX_NETWORK_HOSTS=*:*", "OPENAI_BASE_URL=http://provider.example/v1", "OPENAI_API_KEY=a-key-of-a-test",
		// Guarded requests use no proxy: it would be an inner address.
		"HTTP_PROXY=http://10.0.0.99:8080", "HTTPS_PROXY=http://10.0.0.99:8080", "ALL_PROXY=http://10.0.0.99:8080", "NO_PROXY=provider.example")
	s.allow("http")
	s.allow("web_fetch")
	s.allow("shell")
	var hooks []string
	for _, code := range redirections {
		hooks = append(hooks, strings.Replace(redirecting(code, "http://10.0.0.1/hook"), "public.", "hooks.", 1))
	}
	s.hook(hooks...)
	return s
}

// hook adds webhooks to the configuration, which are called at the begin of each
// session.
func (s *suite) hook(urls ...string) {
	s.t.Helper()
	f, err := os.OpenFile(filepath.Join(s.home, "config.toml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	for _, u := range urls {
		if _, err := fmt.Fprintf(f, "\n[[hooks]]\npoint = \"session_start\"\nkind = \"webhook\"\nurl = %q\non_error = \"open\"\n", u); err != nil {
			s.t.Fatal(err)
		}
	}
}

// start starts the daemon with a model that makes the planned calls.
func (s *suite) start() {
	s.t.Helper()
	model, err := json.Marshal(map[string]any{"past_end": "echo", "turns": s.turns})
	if err == nil {
		err = os.WriteFile(s.model, model, 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.begin()
}

// run runs a subtest and logs its time.
func (s *suite) run(t *testing.T, name string, try func(*testing.T)) {
	began, before := time.Now(), s.tries
	t.Run(name, func(inner *testing.T) {
		s.t = inner
		try(inner)
	})
	s.t = t
	t.Logf("%s: %d attempts in %v", name, s.tries-before, time.Since(began).Round(time.Millisecond))
}

// plan lets the model make calls in as many turns as it takes, and returns their
// numbers.
func (s *suite) plan(calls ...map[string]any) (turns []int) {
	for some := range slices.Chunk(calls, 60) {
		for i := range some {
			some[i]["ref"] = strconv.Itoa(i)
		}
		turns = append(turns, len(s.turns))
		s.turns = append(s.turns, map[string]any{
			"when":  fmt.Sprintf("turn %d;", len(s.turns)),
			"steps": []any{map[string]any{"calls": some}, map[string]any{"text": "done"}},
		})
	}
	return turns
}

// fetching lets the model make calls of the tool http, or of web_fetch where there is
// no method. What it returns makes them and gives their results to a check.
func (s *suite) fetching(calls []fetch) func(check func(fetch, chela.ResultBody)) {
	var made []map[string]any
	for _, c := range calls {
		args := map[string]any{"url": c.url, "method": c.method}
		if c.method == http.MethodPost {
			args["body"] = "x"
		}
		name := "http"
		if c.method == "" {
			name = "web_fetch"
			delete(args, "method")
		}
		made = append(made, map[string]any{"tool": name, "args": args})
	}
	turns := s.plan(made...)
	return func(check func(fetch, chela.ResultBody)) {
		var results []chela.ResultBody
		for _, turn := range turns {
			results = append(results, s.results(turn)...)
		}
		s.tries += len(calls)
		if len(results) != len(calls) {
			s.t.Fatalf("%d results of %d calls", len(results), len(calls))
		}
		for i, c := range calls {
			check(c, results[i])
		}
	}
}

// results makes the calls of a turn and returns their results.
func (s *suite) results(turn int) (results []chela.ResultBody) {
	s.t.Helper()
	key := chela.SessionKey(fmt.Sprintf("agent:main:dm:t%d", turn))
	s.through(s.say(api.Message{Session: key, Text: fmt.Sprintf("turn %d;", turn)}).Turn)
	s.look(func(st *store.Store) error {
		return st.Read(s.t.Context(), func(r *store.Read) error {
			thread, err := r.CurrentThread(s.t.Context(), key)
			if err != nil {
				return err
			}
			path, err := r.Path(s.t.Context(), thread.Head)
			for _, e := range path {
				if e.Kind() == chela.EntryToolResult {
					results = append(results, e.Result())
				}
			}
			return err
		})
	})
	slices.SortFunc(results, func(a, b chela.ResultBody) int {
		x, _ := strconv.Atoi(a.Ref)
		y, _ := strconv.Atoi(b.Ref)
		return x - y
	})
	return results
}
