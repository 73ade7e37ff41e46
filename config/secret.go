package config

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is text that must not be shown. It prints as "[redacted]" with every verb of
// fmt, in JSON and in log/slog; an empty one prints as nothing. The value sits behind a
// pointer, so that it does not show either when a Secret is a private field of something
// that is printed, where methods are not called.
type Secret struct{ value *string }

// NewSecret wraps a value; the empty text gives the zero Secret.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{&value}
}

// Reveal returns the value itself.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero reports whether there is no value.
func (s Secret) IsZero() bool { return s.value == nil }

// Equal reports whether both hold the same value.
func (s Secret) Equal(o Secret) bool { return s.Reveal() == o.Reveal() }

// String implements fmt.Stringer.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return redacted
}

// Format implements fmt.Formatter for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, s.String()) // fmt keeps no error of a Formatter
}

// MarshalText implements encoding.TextMarshaler, and so JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = NewSecret(string(text))
	return nil
}

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
