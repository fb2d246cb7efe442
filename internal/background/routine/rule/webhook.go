package rule

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"chela"
	"chela/internal/api"
)

// eventHeaders name the event of a request, by the services that send them; they are
// part of the input unless the trigger chooses others.
var eventHeaders = []string{
	"X-GitHub-Event", "X-Gitlab-Event", "X-Gitea-Event", "X-Event-Key", "X-Shopify-Topic", "Linear-Event", "Sentry-Hook-Resource", "Ce-Type",
}

// secretHeaders hold credentials, which no model may see.
var secretHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "X-Chela-Secret", "X-Gitlab-Token", "X-Api-Key"}

// maxHeader bounds the value of a header in an input, in bytes.
const maxHeader = 500

// A WebhookRequest is an authenticated request to a webhook.
type WebhookRequest api.HookRequest

// Input returns the input of a run: the headers that the trigger chooses, or else
// those that name the event, and the query, each on a line, then the body after an
// empty line.
func (r WebhookRequest) Input(t chela.Trigger) string {
	names := t.Headers
	if len(names) == 0 {
		names = eventHeaders
	}
	var head []string
	for _, name := range names {
		if value := r.Header.Get(name); value != "" {
			head = append(head, name+": "+oneLine(value))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Query)) {
		for _, value := range r.Query[name] {
			head = append(head, "query "+oneLine(name)+": "+oneLine(value))
		}
	}
	body := strings.ToValidUTF8(string(r.Body), "\ufffd")
	if len(head) == 0 {
		return body
	}
	return strings.Join(head, "\n") + "\n\n" + body
}

func oneLine(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), maxHeader)], "\ufffd")
	return strings.Join(strings.Fields(text), " ")
}

// Mismatch returns why a request does not pass the filter of a trigger, for people;
// empty if it passes. Names are header.NAME, query.NAME and body.PATH, a path of
// members and places in a JSON body, or a field of a form.
func (r WebhookRequest) Mismatch(t chela.Trigger) string {
	for _, name := range slices.Sorted(maps.Keys(t.Match)) {
		got, found := r.value(name)
		switch {
		case !found:
			return "it has no " + name
		case got != t.Match[name]:
			return fmt.Sprintf("%s is %q, not %q", name, Shown(got), Shown(t.Match[name]))
		}
	}
	return ""
}

// value returns a value of the request by its name in a filter.
func (r WebhookRequest) value(name string) (string, bool) {
	part, rest, _ := strings.Cut(name, ".")
	switch part {
	case "header":
		return r.Header.Get(rest), len(r.Header.Values(rest)) > 0
	case "query":
		return r.Query.Get(rest), r.Query.Has(rest)
	}
	var v any
	d := json.NewDecoder(strings.NewReader(string(r.Body)))
	d.UseNumber()
	if d.Decode(&v) != nil { // whatever the type that the sender names, as curl names a form
		form, err := url.ParseQuery(string(r.Body))
		return form.Get(rest), err == nil && form.Has(rest)
	}
	for step := range strings.SplitSeq(rest, ".") {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[step]
			if !ok {
				return "", false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at) {
				return "", false
			}
			v = at[i]
		default:
			return "", false
		}
	}
	return scalar(v)
}

// scalar returns a JSON value as text, unless it is a list or an object.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	case nil:
		return "null", true
	default:
		return "", false
	}
}

// checkWebhookParts validates the filter and the headers of a webhook.
func checkWebhookParts(t chela.Trigger) error {
	for name := range t.Match {
		part, rest, _ := strings.Cut(name, ".")
		if rest == "" || part != "body" && part != "header" && part != "query" {
			return invalid("%q is not a part of a request", Shown(name)).
				WithHint("use body.MEMBER, header.NAME or query.NAME, such as body.action=opened")
		}
	}
	for _, name := range t.Headers {
		if slices.ContainsFunc(secretHeaders, func(secret string) bool { return strings.EqualFold(secret, name) }) {
			return invalid("the header %q holds a credential", Shown(name)).WithHint("choose headers that describe the event")
		}
	}
	return nil
}
