package edge

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"chela"
	"chela/internal/api"
)

// A door is an ingress: the TCP listener, or the socket of the owner.
type door struct {
	server *Server
	mux    *http.ServeMux
	owner  bool

	patterns map[string]bool // true for those of the routes, false for closed ones
}

// open builds the mux of an ingress from the table of routes.
func (s *Server) open(owner bool) http.Handler {
	d := &door{server: s, mux: http.NewServeMux(), owner: owner, patterns: map[string]bool{}}
	for _, row := range s.routes {
		pattern := row.Path
		if pattern == "/" {
			pattern = "/{$}"
		}
		d.patterns[row.Method+" "+pattern] = true
		d.mux.HandleFunc(row.Method+" "+pattern, func(w http.ResponseWriter, _ *http.Request) {
			v := w.(*Visit) // ServeHTTP hands nothing else to the mux
			v.route = &row
			if err := s.serve(v, &row); err != nil {
				v.Refuse(err)
			}
		})
	}
	d.mux.HandleFunc("/", d.unknown)
	d.closeLiterals()
	return d
}

// closeLiterals refuses the methods that a path without wildcards does not have.
// Otherwise the route of a pattern that includes the path would take them:
// PATCH /api/routines/next is no change of a routine named next.
func (d *door) closeLiterals() {
	for _, row := range d.server.routes {
		if strings.ContainsAny(row.Path, "{") || row.Path == "/" {
			continue
		}
		for _, method := range d.server.methods {
			pattern := method + " " + row.Path
			if _, known := d.patterns[pattern]; !known {
				d.patterns[pattern] = false
				d.mux.HandleFunc(pattern, d.unknown)
			}
		}
	}
}

// ServeHTTP serves one request.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := d.server
	v := &Visit{ResponseWriter: w, Request: r, ID: string(s.cfg.IDs.Request()), Owner: d.owner, server: s}
	defer v.recovered()
	v.secure()
	if r.ContentLength != 0 {
		began := s.cfg.Now()
		v.readUntil(began.Add(s.cfg.Times.Body))
		v.body = &body{ReadCloser: r.Body, v: v, began: began}
		r.Body = v.body
		defer v.body.forget()
	}
	done, err := d.admit(v)
	switch {
	case err != nil:
		v.Refuse(err)
	case !done:
		d.mux.ServeHTTP(v, r)
	}
}

// Headers of every response. An HTML page sets its own content policy.
var secureHeaders = map[string][]string{
	"Content-Security-Policy":      {"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
	"X-Content-Type-Options":       {"nosniff"},
	"X-Frame-Options":              {"DENY"},
	"Referrer-Policy":              {"no-referrer"},
	"Cross-Origin-Resource-Policy": {"same-origin"},
	"Cross-Origin-Opener-Policy":   {"same-origin"},
	"Cache-Control":                {"no-store"},
}

func (v *Visit) secure() {
	h := v.Header()
	for name, value := range secureHeaders {
		h[name] = value
	}
	h[api.RequestIDHeader] = []string{v.ID}
}

// admit refuses requests that no route should see. It reports whether it
// answered the request.
func (d *door) admit(v *Visit) (bool, error) {
	if overLimit(v.Request.Context()) {
		v.Header().Set("Connection", "close")
		return false, chela.E(chela.Unavailable, "there are too many connections").WithHint("try again in a moment")
	}
	if !cleanPath(v.Request) {
		return false, noRoute(v.Request)
	}
	if d.owner {
		return false, nil
	}
	if !d.server.ownHost(v.Request) {
		return false, Refusal{
			Err: chela.E(chela.Denied, fmt.Sprintf("%.100q is not a name of this daemon", v.Request.Host)).
				WithHint("use 127.0.0.1 or localhost, or add the name to gateway.hosts in config.toml"),
			Status: http.StatusMisdirectedRequest,
		}
	}
	return d.server.fromPage(v)
}

// cleanPath reports whether a path is in normal form. The mux would redirect
// others.
func cleanPath(r *http.Request) bool {
	p := r.URL.EscapedPath()
	return strings.HasPrefix(p, "/") && path.Clean(p) == p &&
		utf8.ValidString(r.URL.Path) && !strings.ContainsFunc(r.URL.Path, unicode.IsControl)
}

func noRoute(r *http.Request) error {
	return chela.E(chela.NotFound, fmt.Sprintf("there is nothing at %.200q", r.URL.EscapedPath())).
		WithHint("see /api/openapi.json for what there is")
}

// ownHost reports whether a Host header names this daemon. This prevents DNS
// rebinding: a foreign name that resolves to this address must not let a page
// make requests in the name of its visitor.
func (s *Server) ownHost(r *http.Request) bool {
	name := hostName(r.Host)
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.Unmap().IsLoopback() || ip.Unmap() == localAddress(r) || slices.Contains(s.hosts, name)
	}
	return name == "localhost" || slices.Contains(s.hosts, name)
}

// hostName returns a host without its port, in lower case.
func hostName(host string) string {
	if rest, ok := strings.CutPrefix(host, "["); ok {
		name, _, _ := strings.Cut(rest, "]")
		return name
	}
	name, _, _ := strings.Cut(host, ":")
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

// localAddress returns the address that a connection reached.
func localAddress(r *http.Request) netip.Addr {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(interface{ String() string })
	if !ok {
		return netip.Addr{}
	}
	at, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}

// unknown answers requests for unknown paths.
func (d *door) unknown(w http.ResponseWriter, r *http.Request) {
	v := w.(*Visit) // ServeHTTP hands nothing else to the mux
	var allowed []string
	for _, method := range d.server.methods {
		asked := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := d.mux.Handler(asked); d.patterns[pattern] {
			allowed = append(allowed, method)
			if method == http.MethodGet {
				allowed = append(allowed, http.MethodHead)
			}
		}
	}
	if len(allowed) == 0 {
		v.Refuse(noRoute(r))
		return
	}
	v.Refuse(notAllowed(v, allowed))
}

func notAllowed(v *Visit, allowed []string) error {
	v.Header().Set("Allow", strings.Join(allowed, ", "))
	return Refusal{
		Err: chela.E(chela.Invalid, fmt.Sprintf("%.20q is no way to ask %.200q", v.Request.Method, v.Request.URL.EscapedPath())).
			WithHint("use " + strings.Join(allowed, " or ")),
		Status: http.StatusMethodNotAllowed,
	}
}

// serve serves a request for a route, or returns why not.
func (s *Server) serve(v *Visit, row *Route) error {
	if v.Request.Method == http.MethodHead && row.Long {
		return notAllowed(v, []string{http.MethodGet})
	}
	if err := s.identify(v, row); err != nil {
		return err
	}
	if err := v.ask(row); err != nil {
		return err
	}
	if row.Metered {
		if err := v.Count(); err != nil {
			return err
		}
	}
	if err := v.take(row); err != nil {
		return err
	}
	if v.body != nil {
		defer v.body.free()
	}
	ctx := v.Request.Context()
	if row.Long || row.Streams && v.WantsStream() {
		var done func()
		var err error
		if ctx, done, err = s.waiting.add(ctx, v); err != nil {
			return err
		}
		defer done()
	}
	v.Request = v.Request.WithContext(ctx)
	return s.perform(v, row)
}

// identify authenticates and authorizes a request.
func (s *Server) identify(v *Visit, row *Route) error {
	if v.Owner {
		v.By.Token = chela.Token{ID: socketAccount, Name: api.SocketAgent, Scope: chela.ScopeAdmin}
		return nil
	}
	if row.Scope == api.Public {
		return nil
	}
	if err := s.authenticate(v); err != nil {
		return err
	}
	return v.Permit(row.Scope)
}

// Permit returns a Denied error if the caller lacks a scope.
func (v *Visit) Permit(need chela.Scope) error {
	if v.By.Token.Scope.Allows(need) {
		return nil
	}
	return chela.E(chela.Denied, fmt.Sprintf("this needs the scope %s, and the token has %s", need, v.By.Token.Scope)).
		WithHint("make another token with chela tokens create")
}

// take sets the limits of the body of a route. An unused body is drained, so
// that the client receives the response.
func (v *Visit) take(row *Route) error {
	if v.body == nil {
		if row.BodyType != api.Bytes || row.Scope == api.Public || v.Request.Header.Get("Content-Type") != "" {
			return nil
		}
		return chela.E(chela.Invalid, "there is no body").WithHint("send one with its Content-Type")
	}
	if v.Request.ContentLength > row.Limit {
		return TooLarge(row.Limit)
	}
	v.Request.Body = http.MaxBytesReader(v.ResponseWriter, v.Request.Body, row.Limit)
	if row.Limit > api.MaxBody && (v.Request.ContentLength < 0 || v.Request.ContentLength > api.MaxBody) {
		free, err := v.Large()
		if err != nil {
			return err
		}
		v.body.freed = free
	}
	if row.BodyType != "" {
		return nil
	}
	if _, err := io.Copy(io.Discard, v.Request.Body); err != nil {
		return broken(err)
	}
	return nil
}
