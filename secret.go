package chela

import (
	"regexp"
	"strings"
	"time"
	"unicode"
)

// A SecretName names a secret in the vault: letters, digits, ".", "_" and "-".
type SecretName string

var secretName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Valid reports whether a secret can have the name.
func (n SecretName) Valid() bool { return secretName.MatchString(string(n)) }

// secretSubject begins the subjects that name secrets.
const secretSubject = "secret "

// SecretSubject is the subject of a call that sends a secret to a host; see
// [Judgement].
func SecretSubject(n SecretName, host string) string {
	return secretSubject + string(n) + " to " + host
}

// A Secret is a credential in the vault, without its value.
type Secret struct {
	Name      SecretName `json:"name"`
	Version   int        `json:"version"`         // grows with each new value
	Hosts     []string   `json:"hosts,omitempty"` // patterns of hosts to which it may be sent; none: only settings use it
	Note      string     `json:"note,omitempty"`  // for people
	Key       string     `json:"key"`             // identifies the master key that seals it
	CreatedAt time.Time  `json:"created_at"`
	ChangedAt time.Time  `json:"changed_at"`
	UsedAt    time.Time  `json:"used_at,omitzero"`
	Uses      int        `json:"uses"`
}

// A SecretUse records that a secret left the vault.
type SecretUse struct {
	ID      SecretUseID `json:"id"`
	Name    SecretName  `json:"name"`
	Version int         `json:"version"`
	Purpose string      `json:"purpose"`           // what used it: a setting, a tool, the egress proxy
	Host    string      `json:"host,omitempty"`    // to which it was sent
	Session SessionKey  `json:"session,omitempty"` // that asked for it
	Turn    TurnID      `json:"turn,omitempty"`
	At      time.Time   `json:"at"`
}

// A SecretReference says where a secret is: "env:NAME", "secret:NAME" or
// "exec:COMMAND". It is what settings and routines hold instead of the secret.
type SecretReference string

// A SecretPlace is a place of secrets.
type SecretPlace string

// The places of secrets.
const (
	PlaceEnvironment SecretPlace = "env"    // a variable of the environment
	PlaceVault       SecretPlace = "secret" // the vault
	PlaceCommand     SecretPlace = "exec"   // what a program prints, such as a password manager
)

// MaxCommand limits the command of a reference, in bytes.
const MaxCommand = 1000

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Split returns the place of the secret and the name or command there. The place is
// empty for text that is no reference, such as a secret itself.
func (r SecretReference) Split() (SecretPlace, string) {
	place, rest, _ := strings.Cut(string(r), ":")
	ok := false
	switch SecretPlace(place) {
	case PlaceEnvironment:
		ok = variableName.MatchString(rest)
	case PlaceVault:
		ok = SecretName(rest).Valid()
	case PlaceCommand:
		ok = strings.TrimSpace(rest) != "" && len(rest) <= MaxCommand && strings.IndexFunc(rest, unicode.IsControl) < 0
	}
	if !ok {
		return "", ""
	}
	return SecretPlace(place), rest
}
