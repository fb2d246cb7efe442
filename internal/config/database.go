package config

import (
	"net/url"

	"chela/internal/config/field"
)

// Database locates the store. An unset URL means the SQLite file of the home.
type Database struct {
	URL field.Secret `key:"url" is:"database" env:"DATABASE_URL"` // postgres://…; shown without its password
}

// databaseURL is empty or names a PostgreSQL database. Its password is not
// shown.
func databaseURL(_ field.Field, pointer any) field.Field {
	at := pointer.(*field.Secret)
	return field.Field{
		Want:   `empty, or a URL such as "postgres://user@host/name"`,
		Secret: true,
		Put: func(v any) error {
			s, ok := v.(string)
			if ok && s == "" {
				*at = field.Secret{}
				return nil
			}
			u, err := url.Parse(s)
			if !ok || err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
				return field.ErrUnwanted
			}
			if q := u.Query(); q.Has("password") || q.Has("sslpassword") {
				u.RawQuery = "…"
			}
			*at = field.NewSecret(s, u.Redacted())
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

// Secrets returns the confidential parts of the database settings: the URL and
// its password.
func (d Database) Secrets() []string {
	if !d.URL.IsSet() {
		return nil
	}
	secrets := []string{d.URL.Reveal()}
	if u, err := url.Parse(d.URL.Reveal()); err == nil {
		if password, _ := u.User.Password(); password != "" {
			secrets = append(secrets, password)
		}
	}
	return secrets
}

// DatabasePath returns the path of the SQLite file, or "" with PostgreSQL.
func (c *Config) DatabasePath() string {
	if c.Database.URL.IsSet() {
		return ""
	}
	return c.Home.Database()
}
