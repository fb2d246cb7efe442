package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// workspaceFile returns the path of a file of the agent.
func (s *suite) workspaceFile(name string) string {
	return filepath.Join(s.home, "workspace", "main", name)
}

func (s *suite) write(name string, lines []string) {
	s.t.Helper()
	if err := os.WriteFile(s.workspaceFile(name), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// An attempted is an attempt of a command with its status.
type attempted struct{ status, tried string }

// attempts reads a command's report of its attempts.
func (s *suite) attempts(name string) (all []attempted) {
	s.t.Helper()
	for _, line := range lines(s.t, s.workspaceFile(name)) {
		status, tried, _ := strings.Cut(line, "\t")
		all = append(all, attempted{status, tried})
	}
	s.tries += len(all)
	return all
}

// rawRequests returns first lines of requests to the proxy: for hosts that are
// refused, for odd URLs, and for public hosts.
func (s *suite) rawRequests() (refused, odd, public []string) {
	for _, host := range s.hosts {
		connects := []string{"CONNECT " + strings.ReplaceAll(host, "%25", "%") + ":443", "CONNECT " + host + ":6379"}
		if strings.Contains(host, "%") { // not all of these are requests
			odd, connects = append(odd, connects...), nil
		}
		refused = append(append(refused, connects...), "GET http://"+host+"/", "POST http://"+host+":8080/x")
	}
	for _, u := range s.urls {
		if !strings.ContainsAny(u, "\x00\t\r\n\v") {
			odd = append(odd, "GET "+u, "CONNECT "+u, "CONNECT "+strings.TrimSuffix(strings.TrimPrefix(u, "http://"), "/")+":80")
		}
	}
	odd = append(odd, "GET /", "GET *", "OPTIONS *", "CONNECT :80", "CONNECT 127.0.0.1", "CONNECT /var/run/docker.sock", "CONNECT [::1]", "GET https://127.0.0.1/")
	for i := range rebinds {
		public, refused = append(public, "GET http://"+rebinding("shell", i)+"/"), append(refused, "GET http://"+rebinding("shell", i)+"/")
	}
	for _, host := range []string{"public.example", "PUBLIC.example.", "93.184.216.34", "[2606:2800:220:1::1]", "[::ffff:93.184.216.34]", "127.0.0.1.public.example", "cname.example"} {
		public = append(public, "CONNECT "+host+":443", "CONNECT "+host+":8080", "GET http://"+host+"/", "GET http://"+host+":8080/")
	}
	return refused, odd, public
}

// commands lets a command that may connect to every host send requests to its proxy:
// by hand, and with curl, which follows redirects. Without the proxy nothing is
// reached either.
func (s *suite) commands() func(*testing.T) {
	turn := s.plan(map[string]any{"tool": "shell", "args": map[string]any{"command": "bash try.sh", "hosts": []string{"public.example"}, "timeout": 60}})[0]
	return func(t *testing.T) {
		refused, odd, public := s.rawRequests()
		s.write("raw.txt", slices.Concat(public, refused, odd))
		var urls []string
		for i, host := range s.hosts {
			urls = append(urls, "http://"+host+"/", "https://"+host+"/", redirecting(redirections[i%len(redirections)], "http://"+host+"/"))
		}
		urls = append(urls, "http://public.example/")
		s.write("urls.txt", urls)
		text, err := os.ReadFile(filepath.FromSlash("testdata/ssrf/try.sh"))
		if err != nil {
			t.Fatal(err)
		}
		s.write("try.sh", []string{string(text)})
		result := s.results(turn)[0].Text

		raw := s.attempts("raw.out")
		if len(raw) != len(public)+len(refused)+len(odd) {
			t.Fatalf("%d answers of %d requests:\n%s", len(raw), len(public)+len(refused)+len(odd), result)
		}
		expect := func(some []attempted, as func(attempted) bool) {
			for _, o := range some {
				if !as(o) {
					t.Errorf("%s: %q", o.tried, o.status)
				}
			}
		}
		answers := func(o attempted, status string) bool { return strings.HasPrefix(o.status, "HTTP/1.1 "+status+" ") }
		expect(raw[:len(public)], func(o attempted) bool { return answers(o, "200") })
		expect(raw[len(public):][:len(refused)], func(o attempted) bool { return answers(o, "403") })
		expect(raw[len(public)+len(refused):], func(o attempted) bool { return !answers(o, "200") || strings.Contains(o.tried, "public.example") })
		through, direct := s.attempts("proxy.out"), s.attempts("direct.out")
		refusals := 0
		for _, o := range through[:len(through)-1] {
			switch o.status {
			case "403000", "000403", "403200":
				refusals++
			case "000000": // curl knows it for no URL
			default:
				t.Errorf("through curl: %s: %s", o.tried, o.status)
			}
		}
		if len(through) != len(urls) || refusals < len(urls)*9/10 || through[len(through)-1].status != "200000" {
			t.Errorf("%d of %d URLs were refused through curl, and the last is %v", refusals, len(urls), through[len(through)-1:])
		}
		expect(direct, func(o attempted) bool { return o.status == "000000" })
		if told := lines(t, s.workspaceFile("inner.out")); len(told) != 1 || !denied.MatchString(told[0]) {
			t.Errorf("a command is told %q", told)
		}
	}
}

// secrets lets calls use a secret at its host, whose address is an inner one: with the
// tool http, and with a command whose encrypted requests the proxy reads.
func (s *suite) secrets() func(*testing.T) {
	const host = "token.example"
	var calls []map[string]any
	for _, method := range []string{"GET", "POST"} {
		calls = append(calls, map[string]any{"tool": "http", "args": map[string]any{
			"method": method, "url": "https://" + host + "/", "secret": map[string]string{"name": "token"},
		}}, map[string]any{"tool": "shell", "args": map[string]any{
			"command": "curl -sS -X " + method + " -H \"Authorization: Bearer $TOKEN\" https://" + host + "/", "hosts": []string{host},
			"secrets": []any{map[string]string{"name": "token", "variable": "TOKEN", "host": host}},
		}})
	}
	turn := s.plan(calls...)[0]
	return func(t *testing.T) {
		set := exec.CommandContext(t.Context(), s.binary, "secrets", "set", "token", "--host", host)
		set.Env, set.Stdin = s.env, strings.NewReader("a-secret-of-a-test")
		if out, err := set.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for i, r := range s.results(turn) {
			first, _, _ := strings.Cut(r.Text, "\n[network")
			if !denied.MatchString(strings.TrimSpace(first)) {
				t.Errorf("%v: %s %s", calls[i]["args"], r.Status, r.Text)
			}
			s.tries++
		}
	}
}
