package web

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"chela/internal/platform/excerpt"
)

// shownHeaders are the headers of a response that a model needs to continue.
var shownHeaders = []string{"Content-Type", "Location", "Retry-After", "Www-Authenticate", "Last-Modified", "Etag", "Link", "Allow"}

// maxHeader limits the text shown of a header's value, in bytes.
const maxHeader = 500

// describe formats a response for the model. A body that is not text is only
// named.
func describe(asked *url.URL, res *http.Response, body []byte) string {
	var b strings.Builder
	b.WriteString(statusLine(res) + "\n")
	if at := res.Request.URL.String(); at != asked.String() {
		b.WriteString("(redirected to " + at + ")\n")
	}
	for _, name := range shownHeaders {
		if v := res.Header.Get(name); v != "" {
			b.WriteString(name + ": " + strings.ToValidUTF8(excerpt.Bytes(v, maxHeader), "\uFFFD") + "\n")
		}
	}
	size := fmt.Sprintf("%d bytes", len(body))
	more := len(body) > maxResponse
	if more {
		body = body[:maxResponse]
		size = fmt.Sprintf("more than %d bytes", maxResponse)
	}
	switch {
	case len(body) == 0:
		b.WriteString("\n[no body]")
	case !isText(res, body):
		fmt.Fprintf(&b, "\n[%s, %s, not shown; use save_to to keep it]", mediaType(res, body), size)
	default:
		shown := excerpt.Bytes(string(body), maxResponse)
		b.WriteString("\n" + strings.ToValidUTF8(shown, "\uFFFD"))
		if more {
			fmt.Fprintf(&b, "\n[cut here: the body has %s; ask for less]", size)
		}
	}
	return b.String()
}

// leftText tells the model about a redirect that was not followed.
func leftText(left *url.URL) string {
	if left == nil {
		return ""
	}
	return fmt.Sprintf("\n[the redirect to %s was not followed: it is not covered by what was allowed for this call; "+
		"if you need it, make a call for that address]", left)
}

func statusLine(res *http.Response) string {
	return strings.ToValidUTF8(excerpt.Bytes(res.Status, maxHeader), "\uFFFD")
}

// mediaType returns the declared media type of the response, or else the
// sniffed one.
func mediaType(res *http.Response, body []byte) string {
	named, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil || named == "" {
		named, _, _ = mime.ParseMediaType(http.DetectContentType(body)) // the writer makes only well-formed ones
	}
	return named
}

// isText reports whether a body can be shown.
func isText(res *http.Response, body []byte) bool {
	head := body[:min(len(body), 8<<10)]
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	kind := mediaType(res, body)
	for _, part := range []string{"text/", "json", "xml", "javascript", "yaml", "toml", "x-www-form-urlencoded", "x-sh"} {
		if strings.Contains(kind, part) {
			return true
		}
	}
	return false
}
