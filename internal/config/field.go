package config

import (
	"net/url"
	"regexp"
	"strings"
	"time"

	"chela"
	"chela/internal/config/field"
)

// databaseURL is empty or names a PostgreSQL database. Its password is not
// shown.
func databaseURL(at *Secret) field.Field {
	return field.Field{
		Want:   `empty, or a URL such as "postgres://user@host/name"`,
		Secret: true,
		Put: func(v any) error {
			s, ok := v.(string)
			if ok && s == "" {
				*at = Secret{}
				return nil
			}
			u, err := url.Parse(s)
			if !ok || err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
				return field.ErrUnwanted
			}
			if q := u.Query(); q.Has("password") || q.Has("sslpassword") {
				u.RawQuery = "…"
			}
			*at = Secret{value: s, shown: u.Redacted()}
			return nil
		},
		Show: func() string {
			if !at.IsSet() {
				return ""
			}
			return at.String()
		},
	}
}

// localZone stands for the zone of the machine.
const localZone = "local"

// timezone is the name of a zone, and the zone.
func timezone(c *Config) field.Field {
	f := field.Text(&c.Timezone, `the name of a time zone, such as "Europe/Berlin", or "local" for that of the machine`, field.OneLine)
	put := f.Put
	f.Put = func(v any) error {
		name, _ := v.(string)
		zone, err := time.LoadLocation(name)
		switch {
		case name == localZone:
			zone = time.Local
		case name == "" || err != nil:
			return field.ErrUnwanted
		}
		c.zone = zone
		return put(v)
	}
	return f
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// keyReference names where a key is; the key itself is refused.
func keyReference(at *string, set func() bool) field.Field {
	return field.Field{
		Want:   `"env:NAME" or "secret:NAME", never the key itself`,
		Secret: true,
		Put: func(v any) error {
			s, _ := v.(string)
			if name, ok := strings.CutPrefix(s, "secret:"); ok && chela.ValidName(name) {
				return chela.E(chela.Unsupported, "secret:NAME is not supported by this version").WithHint("use env:NAME")
			}
			name, ok := strings.CutPrefix(s, "env:")
			if !ok || !envName.MatchString(name) {
				return field.ErrUnwanted
			}
			*at = s
			return nil
		},
		Show: func() string {
			if set() {
				return "set"
			}
			return "not set"
		},
	}
}

// maxPrice bounds what a million tokens may cost.
const maxPrice = 100_000 * chela.USD
