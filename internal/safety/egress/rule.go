package egress

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"chela"
	"chela/internal/platform/lazyregexp"
	"chela/internal/safety/guard"
)

// A Rule allows requests to a host. Its text is
//
//	[METHOD[,METHOD…] ]HOST[:PORT][/PATH]
//
// such as "registry.npmjs.org", "*.example.com:8443" or
// "GET,HEAD api.example.com/v1/*". HOST and PORT are as in [MatchHost]. PATH is a
// path without its query; "*" at its end stands for any text. A rule with methods
// or a path covers only requests that the proxy can read.
type Rule struct {
	Methods []string // none: all
	Host    string   // with its port, if it names one
	Path    string   // empty: all
}

var methods = lazyregexp.New(`^[A-Z]+(,[A-Z]+)*$`)

// ParseRule parses the text of a rule. It fails with Invalid.
func ParseRule(text string) (r Rule, err error) {
	rest := text
	if list, after, ok := strings.Cut(text, " "); ok {
		if !methods().MatchString(list) {
			return r, badRule(text)
		}
		r.Methods, rest = strings.Split(list, ","), after
	}
	host, path, hasPath := strings.Cut(rest, "/")
	if hasPath {
		r.Path = "/" + path
	}
	if stars := strings.Count(r.Path, "*"); strings.ContainsAny(r.Path, " ?#%\\") || stars > 1 || stars == 1 && !strings.HasSuffix(r.Path, "*") {
		return r, badRule(text)
	}
	name, port, named := cutPort(host)
	bare := strings.TrimPrefix(strings.Trim(name, "[]"), "*.")
	if bare != "*" {
		if bare, err = guard.CanonicalHost(bare); err != nil {
			return r, badRule(text)
		}
	}
	if strings.HasPrefix(name, "*.") {
		bare = "*." + bare
	}
	switch r.Host = bare; {
	case named && (port == "*" || validPort(port)):
		r.Host = net.JoinHostPort(bare, port)
	case named:
		return r, badRule(text)
	}
	return r, nil
}

func badRule(text string) error {
	return chela.Ef(chela.Invalid, "%.100q names no host", text).
		WithHint("write a host such as registry.npmjs.org, *.example.com:8443 or GET,HEAD api.example.com/v1/*")
}

// String returns the text of the rule.
func (r Rule) String() string {
	text := r.Host + r.Path
	if len(r.Methods) > 0 {
		text = strings.Join(r.Methods, ",") + " " + text
	}
	return text
}

// detailed reports whether requests must be read to apply the rule.
func (r Rule) detailed() bool { return len(r.Methods) > 0 || r.Path != "" }

// MatchesHost reports whether the rule is about a canonical "host:port".
func (r Rule) MatchesHost(hostport string) bool { return MatchHost(r.Host, hostport) }

// covers reports whether the rule allows a request. A path that servers may read
// in several ways is covered by no rule with a path.
func (r Rule) covers(q Request) bool {
	switch {
	case !r.MatchesHost(q.Host), r.detailed() && q.Method == http.MethodConnect, len(r.Methods) > 0 && !slices.Contains(r.Methods, q.Method):
		return false
	case r.Path == "":
		return true
	}
	path, err := url.PathUnescape(q.Path)
	if err != nil || strings.ContainsAny(path, `\%`) || slices.ContainsFunc(strings.Split(path, "/"), dots) {
		return false
	}
	if prefix, ok := strings.CutSuffix(r.Path, "*"); ok {
		return strings.HasPrefix(path, prefix)
	}
	return path == r.Path
}

// dots reports whether a segment of a path stands for another one, also with
// parameters, which some servers drop.
func dots(segment string) bool {
	name, _, _ := strings.Cut(segment, ";")
	return name == "." || name == ".."
}

// allow decides about a request: by the rules, and else by the run's Allow.
func (r *Run) allow(ctx context.Context, q Request) error {
	switch {
	case slices.ContainsFunc(r.config.Rules, func(rule Rule) bool { return rule.covers(q) }):
		return nil
	case r.config.Allow != nil:
		return r.config.Allow(ctx, q)
	case slices.ContainsFunc(r.config.Rules, func(rule Rule) bool { return rule.MatchesHost(q.Host) }):
		return chela.E(chela.Denied, "no rule of the owner allows "+q.Method+" "+q.Host+q.Path)
	default:
		return chela.E(chela.Denied, q.Host+" is not among the hosts that this command may reach")
	}
}

// reads reports whether the proxy must read the requests to a host: a secret is
// bound to it, or all rules for it are about methods or paths.
func (r *Run) reads(hostport string) bool {
	if slices.ContainsFunc(r.config.Secrets, func(s Secret) bool { return s.boundTo(hostport) }) {
		return true
	}
	about := false
	for _, rule := range r.config.Rules {
		if rule.MatchesHost(hostport) {
			if !rule.detailed() {
				return false
			}
			about = true
		}
	}
	return about
}

// Reads reports whether the proxy reads any encrypted requests of the run, so
// that programs must trust its authority.
func (r *Run) Reads() bool {
	return len(r.config.Secrets) > 0 || slices.ContainsFunc(r.config.Rules, Rule.detailed)
}
