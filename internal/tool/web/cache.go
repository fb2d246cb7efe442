package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"chela"
	"chela/internal/tool"
)

// Limits of the cache.
const (
	cacheTime  = 5 * time.Minute // an entry is used, unless its server names a shorter time
	maxEntries = 64
	maxCached  = 8 << 20 // bytes of text of all entries
)

// A cacheKey is the key of an entry.
type cacheKey struct {
	url  string
	full bool
}

// An entry is a page that was read.
type entry struct {
	hops      []*url.URL // the redirects that led to it
	text      string
	brief     string
	at, until time.Time
}

// result returns the result of a call that finds the entry.
func (e entry) result(now time.Time) chela.ToolResult {
	r := tool.Done(fmt.Sprintf("%s\n[read %s ago]", e.text, now.Sub(e.at).Round(time.Second)))
	r.Brief = e.brief
	return r
}

// A cache keeps the newest pages in memory. It is safe for concurrent use.
type cache struct {
	now func() time.Time

	mu      sync.Mutex
	entries map[cacheKey]entry // guarded by mu
	order   []cacheKey         // of entries, oldest first; guarded by mu
	size    int                // bytes of text; guarded by mu
}

func newCache(now func() time.Time) *cache {
	return &cache{now: now, entries: map[cacheKey]entry{}}
}

// find returns an entry that may still be used.
func (c *cache) find(key cacheKey) (entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	return e, ok && c.now().Before(e.until)
}

// add adds an entry, unless the headers of its response forbid that.
func (c *cache) add(key cacheKey, e entry, h http.Header) {
	keep := lifetime(h)
	if keep <= 0 || len(e.text) > maxCached/4 {
		return
	}
	e.at = c.now()
	e.until = e.at.Add(keep)
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.entries[key]; ok {
		c.size -= len(old.text)
	} else {
		c.order = append(c.order, key)
	}
	c.entries[key] = e
	c.size += len(e.text)
	for c.size > maxCached || len(c.order) > maxEntries {
		c.size -= len(c.entries[c.order[0]].text)
		delete(c.entries, c.order[0])
		c.order = c.order[1:]
	}
}

// lifetime returns how long a response may be used again.
func lifetime(h http.Header) time.Duration {
	keep := cacheTime
	for directive := range strings.SplitSeq(strings.ToLower(strings.Join(h.Values("Cache-Control"), ",")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch name {
		case "no-store", "no-cache":
			return 0
		case "max-age":
			if secs, err := strconv.ParseUint(value, 10, 31); err == nil {
				keep = min(keep, time.Duration(secs)*time.Second)
			}
		}
	}
	return keep
}
