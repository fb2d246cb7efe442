package egress

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"chela"
)

// inject replaces the sentinels in the header fields, the query and the path of
// a request to a host by the secrets that they stand for, and returns their names.
// It returns [chela.Denied] for a sentinel whose secret is not bound to the host,
// and for one that is not of this run.
func (r *Run) inject(req *http.Request, hostport string) (names []string, err error) {
	replace := func(text string, escape func(string) string) (string, error) {
		for at := strings.Index(text, sentinelPrefix); at >= 0; at = strings.Index(text, sentinelPrefix) {
			end := min(len(text), at+len(sentinelPrefix)+40)
			secret, ok := r.sentinels[text[at:end]]
			switch {
			case !ok:
				return "", chela.E(chela.Denied, "the request holds a text that stands for a secret of another command")
			case !secret.boundTo(hostport):
				return "", chela.E(chela.Denied, fmt.Sprintf("the secret %s may not be sent to %s", secret.Name, hostport))
			}
			if !slices.Contains(names, secret.Name) {
				names = append(names, secret.Name)
			}
			text = text[:at] + escape(secret.Value) + text[end:]
		}
		return text, nil
	}
	raw := func(s string) string { return s }
	for name, values := range req.Header {
		for i, v := range values {
			if values[i], err = replace(v, raw); err == nil && name == "Authorization" {
				values[i], err = injectBasic(values[i], func(s string) (string, error) { return replace(s, raw) })
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if req.URL.RawQuery, err = replace(req.URL.RawQuery, url.QueryEscape); err != nil {
		return nil, err
	}
	path, err := replace(req.URL.EscapedPath(), url.PathEscape)
	if err != nil {
		return nil, err
	}
	if req.URL.Path, err = url.PathUnescape(path); err != nil {
		return nil, chela.E(chela.Invalid, "the path of the request is not escaped rightly")
	}
	req.URL.RawPath = path
	return names, nil
}

// injectBasic replaces sentinels inside of the credentials of Basic.
func injectBasic(value string, replace func(string) (string, error)) (string, error) {
	scheme, encoded, _ := strings.Cut(value, " ")
	if !strings.EqualFold(scheme, "basic") {
		return value, nil
	}
	plain, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || !strings.Contains(string(plain), sentinelPrefix) {
		return value, nil //nolint:nilerr // what is not base64 holds no sentinel, and is the server's to refuse
	}
	text, err := replace(string(plain))
	if err != nil {
		return "", err
	}
	return scheme + " " + base64.StdEncoding.EncodeToString([]byte(text)), nil
}
