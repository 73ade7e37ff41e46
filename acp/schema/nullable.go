package schema

// Nullable is a field of an update for which absent means "as before" and null means
// "clear it". The zero value is absent.
type Nullable[T any] struct {
	value *T
	null  bool
}

// Value returns a Nullable that holds v.
func Value[T any](v T) Nullable[T] { return Nullable[T]{value: &v} }

// Null returns a Nullable that clears.
func Null[T any]() Nullable[T] { return Nullable[T]{null: true} }

// Get returns the value; ok is false if there is none, absent or null.
func (n Nullable[T]) Get() (v T, ok bool) {
	if n.value == nil {
		return v, false
	}
	return *n.value, true
}

// IsNull says whether the field is there, and null.
func (n Nullable[T]) IsNull() bool { return n.null }

// IsZero says whether the field is absent; encoding/json leaves it out then.
func (n Nullable[T]) IsZero() bool { return n.value == nil && !n.null }

// MarshalJSON implements json.Marshaler.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	if n.value == nil {
		return []byte("null"), nil
	}
	return marshal(*n.value)
}
