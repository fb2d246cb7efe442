package web

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/temoto/robotstxt"

	"chela"
)

// Limits of robots.txt (RFC 9309).
const (
	robotsTimeout   = 10 * time.Second
	robotsRedirects = 5
	maxRobots       = 512 << 10 // bytes that are parsed
	maxSites        = 64        // whose rules are kept
	robotsTime      = time.Hour // rules are kept
	robotsRetry     = time.Minute
)

// robots knows which pages sites let programs read, by their robots.txt. It is safe
// for concurrent use; nil allows all.
type robots struct {
	client *http.Client
	now    func() time.Time

	mu    sync.Mutex
	sites map[string]siteRules // by scheme and host; guarded by mu
}

// siteRules are the rules of a site.
type siteRules struct {
	rules *robotstxt.RobotsData // nil allows all
	err   error                 // why nothing may be read for now
	until time.Time
}

func newRobots(cfg Config) *robots {
	c := client(cfg.Dialer)
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if next, err := canonicalURL(req.URL); err != nil || next.Host != via[0].URL.Host || len(via) > robotsRedirects {
			return http.ErrUseLastResponse // another site has no say, and the policy did not allow it
		}
		return nil
	}
	return &robots{client: c, now: cfg.Now, sites: map[string]siteRules{}}
}

// check returns Denied if the site of a canonical URL asks programs not to read it,
// and the error of reaching the site.
func (r *robots) check(ctx context.Context, u *url.URL) error {
	if r == nil || u.Path == "/robots.txt" {
		return nil
	}
	s, err := r.site(ctx, u)
	if err != nil {
		return err
	}
	if s.err != nil {
		return s.err
	}
	path := u.EscapedPath()
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	if s.rules == nil || s.rules.TestAgent(path, agentName) {
		return nil
	}
	return chela.E(chela.Denied, u.Host+" asks programs not to read this page, in its robots.txt; look for another source").
		WithHint("only the owner can ignore that, with the setting web.robots")
}

// site returns the rules of the site of a URL.
func (r *robots) site(ctx context.Context, u *url.URL) (siteRules, error) {
	origin := u.Scheme + "://" + u.Host
	r.mu.Lock()
	s, ok := r.sites[origin]
	r.mu.Unlock()
	if ok && r.now().Before(s.until) {
		return s, nil
	}
	s, err := r.read(ctx, origin)
	if err != nil {
		return s, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.sites) >= maxSites {
		clear(r.sites)
	}
	r.sites[origin] = s
	return s, nil
}

// read requests the rules of a site: none where there is no such file, and nothing may
// be read while the server fails.
func (r *robots) read(ctx context.Context, origin string) (s siteRules, err error) {
	ctx, cancel := context.WithTimeout(ctx, robotsTimeout)
	defer cancel()
	req, err := newRequest(ctx, httpInput{URL: origin + "/robots.txt"})
	if err != nil {
		return s, err
	}
	req.Header.Set("User-Agent", pageHeader.Get("User-Agent"))
	res, body, err := fetch(r.client, req, robotsTimeout) //nolint:bodyclose // fetch closes it
	if err != nil {
		return s, err
	}
	s.until = r.now().Add(robotsTime)
	switch {
	case res.StatusCode >= 500:
		s.until = r.now().Add(robotsRetry)
		s.err = chela.Ef(chela.Unavailable, "the robots.txt of %s cannot be read (%s), so its pages are not read for now; try again later", req.URL.Host, statusLine(res))
	case res.StatusCode < 300:
		if s.rules, err = robotstxt.FromBytes(body[:min(len(body), maxRobots)]); err != nil {
			s.rules = nil // not a robots.txt, such as the page of an error
		}
	}
	return s, nil
}
