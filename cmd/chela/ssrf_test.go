package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// TestInnerAddresses tries every notation of an inner address by every way in which
// the real binary connects to hosts that others name: the tools http and web_fetch,
// images of requests to /v1, commands through their proxy, and redirects of webhooks
// and of providers. It runs in namespaces in which every address is one of this machine, so
// that a connection to any inner address is recorded: there is none until the owner
// allows some, and public addresses are reached in the same ways. All refusals of an
// address are of one kind and say what to do.
func TestInnerAddresses(t *testing.T) {
	if *ssrfBinary == "" {
		t.Parallel()
		inWorld(t)
		return
	}
	s := newSuite(t)
	ways := []struct {
		name string
		try  func(t *testing.T)
	}{
		{"notations", s.notations()},
		{"redirects", s.redirects()},
		{"look-ups", s.lookups()},
		{"public", s.publicURLs()},
		{"images", s.images},
		{"commands", s.commands()},
		{"secrets", s.secrets()},
		{"providers", s.providers},
		{"hooks", s.hooks},
	}
	control := s.control()
	s.start()
	for _, way := range ways {
		s.run(t, way.name, way.try)
	}
	if inner := s.world.inner(); len(inner) > 0 {
		t.Errorf("connections to inner addresses: %v", inner)
	}
	s.stop()
	t.Logf("%d notations of hosts, %d URLs, %d attempts", len(s.hosts), len(s.urls), s.tries)
	s.run(t, "control", control)
}

var (
	// denied matches the refusal of an address, whose kind is Denied.
	denied = regexp.MustCompile(`( is not a public address; only the owner can allow it, in the setting tools\.http_allow` +
		`| is an address in an odd form; write it as 192\.0\.2\.1 or \[2001:db8::1\]| is an address of one network interface; use a public address)\.?$`)

	// invalid matches the refusal of a text that is no URL of the web, and the failure
	// of a name that does not exist.
	invalid = regexp.MustCompile(`url: (".*" is not a URL; write it as https://host/path|only http and https can be used, not ".*"` +
		`|the host is missing; write it as https://host/path|a name or password does not belong into it; use a header` +
		`|port .* cannot be used; only 80, 443 and those from 1024 can|".*" is not the name of a host)$|the host .* cannot be found$`)
)

// refuses checks that a call was refused because of its address, or for one of some
// other reasons.
func refuses(t *testing.T, c fetch, r chela.ResultBody, or ...*regexp.Regexp) {
	t.Helper()
	if r.Status != chela.CallFailed || !slices.ContainsFunc(append(or, denied), func(re *regexp.Regexp) bool { return re.MatchString(r.Text) }) {
		t.Errorf("%s %q: %s %.300q", c.method, c.url, r.Status, r.Text)
	}
}

// notations calls the tool http with each notation of an inner address, with names
// that resolve to these addresses, and with URLs that programs may read in two ways.
func (s *suite) notations() func(*testing.T) {
	var inner, odd []fetch
	for _, host := range s.hosts {
		inner = append(inner, fetch{http.MethodGet, "http://" + host + "/"}, fetch{"", "http://" + host + "/"}, fetch{http.MethodPost, "http://" + host + ":8080/latest/api/token"})
		if addr, err := netip.ParseAddr(strings.Trim(strings.ReplaceAll(host, "%25", "%"), "[]")); err == nil {
			inner = append(inner, fetch{http.MethodGet, "http://" + nameOf(addr) + "/"})
		}
	}
	for _, u := range s.urls {
		odd = append(odd, fetch{http.MethodGet, u}, fetch{"", u}, fetch{http.MethodPost, u})
	}
	plain, strange := s.fetching(inner), s.fetching(odd)
	return func(t *testing.T) {
		plain(func(c fetch, r chela.ResultBody) { refuses(t, c, r) })
		strange(func(c fetch, r chela.ResultBody) { refuses(t, c, r, invalid) })
	}
}

// unfollowed matches the result of a call whose redirect the tool does not follow: it
// would send a body to another host, or the address cannot be parsed.
var unfollowed = regexp.MustCompile(`^30[78] |sent an invalid response$`)

// redirects calls the tool http with public addresses that redirect to inner ones.
func (s *suite) redirects() func(*testing.T) {
	var plain, odd, posts []fetch
	for i, host := range s.hosts {
		there := redirecting(redirections[i%len(redirections)], "http://"+host+"/")
		plain = append(plain, fetch{http.MethodGet, there}, fetch{"", there})
	}
	for i, u := range s.urls {
		odd = append(odd, gets(redirecting(redirections[i%len(redirections)], u))...)
	}
	for _, code := range redirections {
		for _, u := range []string{"http://10.0.0.1/", "http://[::1]/", "//169.254.169.254/", "http://inner.example/", "http://private.example:8080/"} {
			last := redirecting(code, u)
			plain = append(plain, gets(last, redirecting(301, last), redirecting(302, redirecting(303, redirecting(307, redirecting(308, last)))))...)
			posts = append(posts, fetch{http.MethodPost, last})
		}
	}
	first, second, third := s.fetching(plain), s.fetching(odd), s.fetching(posts)
	return func(t *testing.T) {
		first(func(c fetch, r chela.ResultBody) { refuses(t, c, r) })
		second(func(c fetch, r chela.ResultBody) {
			if !strings.Contains(r.Text, publicText) { // a relative one stays on its host
				refuses(t, c, r, invalid, unfollowed)
			}
		})
		third(func(c fetch, r chela.ResultBody) {
			if !unfollowed.MatchString(r.Text) {
				refuses(t, c, r)
			}
		})
	}
}

// lookups calls the tool http with names whose addresses change between two look-ups:
// of two calls, and of a call and its redirect.
func (s *suite) lookups() func(*testing.T) {
	var there, back, hops []fetch
	for i := range rebinds {
		there = append(there, gets("http://"+rebinding("http", i)+"/")...)
		back = append(back, gets("http://"+rebinding("back", i)+"/")...)
		hop := "http://" + rebinding("hop", i)
		hops = append(hops, gets(hop+"/redirect/302?to="+hop+"/")...)
	}
	public, inner, innerFirst, publicLater, hop := s.fetching(there), s.fetching(there), s.fetching(back), s.fetching(back), s.fetching(hops)
	return func(t *testing.T) {
		passes := func(c fetch, r chela.ResultBody) {
			if !strings.Contains(r.Text, publicText) {
				t.Errorf("%s: %s", c.url, r.Text)
			}
		}
		refused := func(c fetch, r chela.ResultBody) { refuses(t, c, r) }
		public(passes)
		for i := range rebinds {
			if n := s.world.count(s.world.lookups, "A "+rebinding("http", i)); n != 1 {
				t.Errorf("%d look-ups of %s for one request", n, rebinding("http", i))
			}
		}
		inner(refused)
		innerFirst(refused)
		publicLater(passes)
		hop(refused)
	}
}

// publicURLs calls the tool http with notations of public addresses.
func (s *suite) publicURLs() func(*testing.T) {
	var calls []fetch
	addrs := map[string]string{}
	for _, line := range s.public {
		addr, u, _ := strings.Cut(line, "\t")
		calls, addrs[u] = append(calls, gets(u)...), addr
	}
	try := s.fetching(calls)
	return func(t *testing.T) {
		if len(calls) < 40 {
			t.Errorf("there are %d URLs", len(calls))
		}
		try(func(c fetch, r chela.ResultBody) {
			if !strings.Contains(r.Text, publicText) || s.world.reached(addrs[c.url]) == 0 {
				t.Errorf("%s: %s %s", c.url, r.Status, r.Text)
			}
		})
	}
}

// picture asks a model about the image at an address, and returns the status and the
// error of the answer.
func (s *suite) picture(t *testing.T, route, address string) (status int, code, message string) {
	t.Helper()
	text, image, field := "text", "image_url", "messages"
	var at any = map[string]string{"url": address}
	if route == "/v1/responses" {
		text, image, field, at = "input_text", "input_image", "input", address
	}
	parts := []any{map[string]any{"type": text, "text": "look"}, map[string]any{"type": image, "image_url": at}}
	said := map[string]any{"model": "chela", field: []any{map[string]any{"role": "user", "content": parts}}}
	res, err := s.client.Do(s.request(t.Context(), http.MethodPost, route, said))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	var answer struct {
		Error struct{ Code, Message string }
	}
	if err == nil {
		err = json.Unmarshal(raw, &answer)
	}
	if err != nil || strings.Contains(string(raw), innerText) {
		t.Errorf("%s %s: %v\n%s", route, address, err, raw)
	}
	s.tries++
	return res.StatusCode, answer.Error.Code, answer.Error.Message
}

// images lets requests to /v1 name images at inner addresses, and at public ones that
// redirect there.
func (s *suite) images(t *testing.T) {
	routes := []string{"/v1/chat/completions", "/v1/responses"}
	refused := func(i int, address string) {
		status, code, message := s.picture(t, routes[i%2], address)
		if status != http.StatusBadRequest || code != "invalid_image_url" || !denied.MatchString(message) {
			t.Errorf("%s %s: %d %s %s", routes[i%2], address, status, code, message)
		}
	}
	for i, host := range s.hosts {
		refused(i, "http://"+host+"/picture")
		refused(i+1, redirecting(redirections[i%len(redirections)], "http://"+host+":8080/picture"))
	}
	for i, u := range s.urls {
		if status, _, message := s.picture(t, routes[i%2], u); status != http.StatusBadRequest {
			t.Errorf("%s %q: %d %s", routes[i%2], u, status, message)
		}
	}
	for i := range rebinds {
		for nth := range 2 {
			address := "http://" + rebinding("image", i) + "/picture"
			if nth == 1 {
				refused(i, address)
			} else if status, _, message := s.picture(t, routes[i%2], address); status != http.StatusOK {
				t.Errorf("%s: %d %s", address, status, message)
			}
		}
	}
}

// hooks checks that the webhooks were called, which redirect to an inner address at
// the begin of each session.
func (s *suite) hooks(t *testing.T) {
	n := s.world.count(s.world.requests, "hooks.example")
	if n < len(redirections)*len(s.turns)/2 {
		t.Errorf("the hooks made %d requests", n)
	}
	s.tries += n
}

// providers asks a provider whose server redirects to an inner address.
func (s *suite) providers(t *testing.T) {
	for i := range redirections {
		if out := s.command("ask", "--model", fmt.Sprintf("openai/m%d", i), "hi"); out.code == 0 {
			t.Errorf("a redirected provider answered %s", out.stdout)
		}
		embed := s.request(t.Context(), http.MethodPost, "/v1/embeddings", map[string]any{"model": fmt.Sprintf("openai/e%d", i), "input": "x"})
		if status, err := s.send(embed, nil); err != nil || status < 400 {
			t.Errorf("embeddings of a redirected provider: %d, %v", status, err)
		}
		s.tries += 2
	}
	if n := s.world.count(s.world.requests, "provider.example"); n < 2*len(redirections) {
		t.Errorf("the provider got %d requests", n)
	}
}

// control shows that the suite can fail: what the owner allows is reached in every
// way, and nothing else is.
func (s *suite) control() func(*testing.T) {
	reach := s.fetching(append(gets("http://10.0.0.1/", "http://inner.example/", "http://private.example:8080/", redirecting(302, "http://10.0.0.21/")),
		fetch{http.MethodPost, "http://[fd00::1]:8080/"}))
	still := s.fetching(gets("http://10.0.0.2/", "http://10.0.0.9/", "http://two-families.example/", redirecting(307, "http://127.0.0.1/")))
	command := map[string]any{"tool": "shell", "args": map[string]any{"command": "curl -sS http://10.0.0.22/", "hosts": []string{"10.0.0.22"}}}
	turn := s.plan(command)[0]
	return func(t *testing.T) {
		s.env = append(s.env, "CHELA_TOOLS_HTTP_ALLOW=10.0.0.1,inner.example,10.0.0.20/30,fd00::/8")
		s.hook("http://10.0.0.77/hook")
		s.begin()
		reach(func(c fetch, r chela.ResultBody) {
			if !strings.Contains(r.Text, innerText) {
				t.Errorf("%s: %s %s", c.url, r.Status, r.Text)
			}
		})
		still(func(c fetch, r chela.ResultBody) { refuses(t, c, r) })
		if text := s.results(turn)[0].Text; !strings.Contains(text, innerText) {
			t.Errorf("a command: %s", text)
		}
		if status, code, message := s.picture(t, "/v1/responses", "http://10.0.0.23/picture"); status != http.StatusOK {
			t.Errorf("an image: %d %s %s", status, code, message)
		}
		want := []string{"10.0.0.1:80", "10.0.0.1:8080", "10.0.0.21:80", "10.0.0.22:80", "10.0.0.23:80", "10.0.0.77:80", "10.0.0.9:80", "[fd00::1]:8080"}
		var got []string
		for _, at := range s.world.inner() {
			addr, _, _ := strings.Cut(at, " ")
			got = append(got, addr)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("inner addresses that were connected to (-want +got)\n%s", diff)
		}
		s.stop()
	}
}
