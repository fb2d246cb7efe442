package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"chela"
)

// A field is a place in a Config and what may be put there.
type field struct {
	want   string                // what is expected, for messages
	secret bool                  // what was given is not repeated in messages
	put    func(v any) error     // stores a value as TOML has it
	read   func(text string) any // a word of the environment as TOML would have it; nil means a string
	show   func() string         // the value as people write it
}

// errUnwanted says that a value is not what the field expects.
var errUnwanted = errors.New("unwanted")

// value turns a word of the environment, a flag or a command into what TOML
// would have.
func (f field) value(text string) any {
	if f.read == nil {
		return text
	}
	return f.read(text)
}

// refusal explains why put did not take what was given at a place.
func (f field) refusal(place string, given any, err error) error {
	if known, ok := errors.AsType[*chela.Error](err); ok {
		return chela.E(known.Kind, place+": "+known.Msg).WithHint(known.Hint)
	}
	shown := "that"
	switch v := given.(type) {
	case string:
		shown = quote(cut(v))
	case int64, bool:
		shown = fmt.Sprint(v)
	}
	if f.secret {
		shown = "what was given"
	}
	return chela.E(chela.Invalid, place+" cannot be "+shown).WithHint("write " + f.want)
}

func number(at *int, low, high int) field {
	return field{
		want: fmt.Sprintf("a whole number from %d to %d", low, high),
		put: func(v any) error {
			n, ok := v.(int64)
			if !ok || n < int64(low) || n > int64(high) {
				return errUnwanted
			}
			*at = int(n)
			return nil
		},
		read: func(s string) any {
			if n, err := strconv.ParseInt(s, 10, 64); err == nil {
				return n
			}
			return s
		},
		show: func() string { return strconv.Itoa(*at) },
	}
}

func span(at *time.Duration, low, high time.Duration) field {
	return field{
		want: fmt.Sprintf("a time such as %q, from %s to %s", "90s", short(low), short(high)),
		put: func(v any) error {
			s, _ := v.(string)
			d, err := time.ParseDuration(s)
			if err != nil || d < low || d > high {
				return errUnwanted
			}
			*at = d
			return nil
		},
		show: func() string { return short(*at) },
	}
}

// short writes a duration without its empty parts: 30m instead of 30m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// choice is a field of a few words. Those of later are known, but not to this
// version.
func choice[S ~string](at *S, words []S, later ...S) field {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = string(w)
	}
	return field{
		want: "one of " + strings.Join(quoted, ", "),
		put: func(v any) error {
			s, ok := v.(string)
			switch {
			case ok && slices.Contains(words, S(s)):
				*at = S(s)
				return nil
			case ok && slices.Contains(later, S(s)):
				return chela.E(chela.Unsupported, fmt.Sprintf("%q is not supported by this version", s)).
					WithHint("use one of " + strings.Join(quoted, ", "))
			default:
				return errUnwanted
			}
		},
		show: func() string { return string(*at) },
	}
}

func text(at *string, want string, valid func(string) bool) field {
	return field{
		want: want,
		put: func(v any) error {
			s, ok := v.(string)
			if !ok || !printable(s) || !valid(s) {
				return errUnwanted
			}
			*at = s
			return nil
		},
		show: func() string { return *at },
	}
}

// printable reports whether s is short, valid UTF-8 and free of control
// characters except line breaks and tabs.
func printable(s string) bool {
	return len(s) <= 10_000 && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t'
	})
}

func anyText(string) bool { return true }

// oneLine reports whether s is something, and on one line.
func oneLine(s string) bool {
	return strings.TrimSpace(s) != "" && !strings.ContainsAny(s, "\n\t")
}

func list(at *[]string, want string, valid func(string) bool) field {
	return field{
		want: want,
		put: func(v any) error {
			items, ok := v.([]any)
			if !ok {
				return errUnwanted
			}
			words := make([]string, len(items))
			for i, item := range items {
				s, ok := item.(string)
				if !ok || !oneLine(s) || !printable(s) || !valid(s) {
					return errUnwanted
				}
				words[i] = s
			}
			*at = words
			return nil
		},
		read: readList,
		show: func() string {
			items := make([]any, len(*at))
			for i, s := range *at {
				items[i] = s
			}
			return literal(items)
		},
	}
}

// readList takes a list as TOML writes it, or words with commas between them.
func readList(s string) any {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "[") {
		doc, err := parse("", []byte("v = "+s))
		if err != nil || len(doc.nodes) == 0 {
			return s
		}
		return doc.nodes[0].value
	}
	items := []any{}
	for word := range strings.SplitSeq(s, ",") {
		if word = strings.TrimSpace(word); word != "" {
			items = append(items, word)
		}
	}
	return items
}

// literal writes a value as TOML does.
func literal(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = literal(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	default:
		return fmt.Sprint(v)
	}
}

// quote writes a basic string of TOML.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// databaseURL is empty or names a PostgreSQL database. Its password is not
// shown.
func databaseURL(at *Secret) field {
	return field{
		want:   `empty, or a URL such as "postgres://user@host/name"`,
		secret: true,
		put: func(v any) error {
			s, ok := v.(string)
			if ok && s == "" {
				*at = Secret{}
				return nil
			}
			u, err := url.Parse(s)
			if !ok || err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
				return errUnwanted
			}
			if q := u.Query(); q.Has("password") || q.Has("sslpassword") {
				u.RawQuery = "…"
			}
			*at = Secret{value: s, shown: u.Redacted()}
			return nil
		},
		show: func() string {
			if !at.IsSet() {
				return ""
			}
			return at.String()
		},
	}
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// keyReference names where a key is; the key itself is refused.
func keyReference(at *string, set func() bool) field {
	return field{
		want:   `"env:NAME" or "secret:NAME", never the key itself`,
		secret: true,
		put: func(v any) error {
			s, _ := v.(string)
			if name, ok := strings.CutPrefix(s, "secret:"); ok && chela.ValidName(name) {
				return chela.E(chela.Unsupported, "secret:NAME is not supported by this version").WithHint("use env:NAME")
			}
			name, ok := strings.CutPrefix(s, "env:")
			if !ok || !envName.MatchString(name) {
				return errUnwanted
			}
			*at = s
			return nil
		},
		show: func() string {
			if set() {
				return "set"
			}
			return "not set"
		},
	}
}

// webURL reports whether s is the address of an HTTP server, without
// credentials, query or fragment.
func webURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" &&
		u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// hostOrPrefix reports whether s is a host name, an IP address or a CIDR
// prefix.
func hostOrPrefix(s string) bool {
	if _, err := netip.ParsePrefix(s); err == nil {
		return true
	}
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	return hostName.MatchString(s) && len(s) <= 253
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$`)
