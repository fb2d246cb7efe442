package field

import "log/slog"

// A Secret is a value that is never printed: every way of formatting it gives
// only its displayable form. The zero value is not set.
type Secret struct {
	value string
	shown string // what may be shown of it instead of "set"
}

// NewSecret returns a secret. Its displayable form replaces "set", unless it is
// empty.
func NewSecret(value, shown string) Secret { return Secret{value: value, shown: shown} }

// Reveal returns the value itself, or "".
func (s Secret) Reveal() string { return s.value }

// IsSet reports whether there is a value.
func (s Secret) IsSet() bool { return s.value != "" }

// String returns the displayable form: "set", "not set", or the harmless part.
func (s Secret) String() string {
	switch {
	case s.value == "":
		return "not set"
	case s.shown != "":
		return s.shown
	default:
		return "set"
	}
}

// GoString returns the same as String, for %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText returns the same as String, for JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue returns the same as String, for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
