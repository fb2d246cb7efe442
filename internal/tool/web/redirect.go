package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"chela"
)

// maxRedirects is how many redirects one call follows.
const maxRedirects = 10

// A redirector follows the redirects of one call.
type redirector struct {
	url  *url.URL // of the call, canonical
	rule func(context.Context, chela.Judgement) (chela.Verdict, error)
	left *url.URL // the redirect that was not followed; nil for none
	mask *mask    // of the secret that the request holds; nil for none

	// header is sent to other hosts; nil means the User-Agent alone.
	header http.Header
}

// check is called before each redirect. It follows redirects within the scope
// granted to the call, and redirects that the policy allows without asking; any
// other redirect is the result of the call. Headers are sent only to the host
// that they were given for.
func (r *redirector) check(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return unfollowed(chela.Ef(chela.Invalid, "there are more than %d redirects", maxRedirects))
	}
	next, err := canonicalURL(req.URL)
	if err != nil {
		return unfollowed(err)
	}
	if !sameOrigin(next, r.url) && r.mask.holds(next.String()) {
		return unfollowed(chela.E(chela.Denied, "it would take the secret to another host"))
	}
	follows, err := r.follows(req, next)
	if err != nil {
		return err
	}
	if !follows {
		r.left = next
		return http.ErrUseLastResponse
	}
	req.URL, req.Host = next, next.Host
	for _, v := range append(via, req) {
		if !sameOrigin(v.URL, r.url) {
			req.Header = http.Header{"User-Agent": {agentName}}
			if r.header != nil {
				req.Header = r.header.Clone()
			}
		}
	}
	return nil
}

// allows reports whether each redirect of a list would be followed now.
func (r *redirector) allows(req *http.Request, hops []*url.URL) (bool, error) {
	for _, next := range hops {
		if follows, err := r.follows(req, next); err != nil || !follows {
			return false, err
		}
	}
	return true, nil
}

// unfollowed returns why a redirect is not followed, worded for the model.
func unfollowed(err error) error {
	return chela.E(chela.KindOf(err), "the redirect cannot be followed: "+chela.MessageOf(err))
}

// follows applies the policy of the call to a redirect. A request that changes
// something is never repeated on another host, and on the same host only if the
// policy allows it.
func (r *redirector) follows(req *http.Request, next *url.URL) (bool, error) {
	if !harmless(req.Method) && !sameOrigin(next, r.url) {
		return false, nil
	}
	verdict := chela.Ask
	if r.rule != nil {
		var err error
		if verdict, err = r.rule(req.Context(), judgeURL(req.Method, next)); err != nil {
			return false, fmt.Errorf("judge a redirect: %w", err)
		}
	}
	switch verdict {
	case chela.Allow:
		return true, nil
	case chela.Ask:
		return harmless(req.Method) && within(r.url, next), nil
	default:
		return false, nil
	}
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// harmless reports whether method only reads.
func harmless(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}
