package schema

// SessionConfigValue is the value that a client chose for a configuration option: the
// id of one of its values, or a boolean.
type SessionConfigValue struct {
	ID        SessionConfigValueId // of a select option
	Bool      bool                 // of a boolean option
	IsBoolean bool                 // says which of the two counts
}

// MarshalJSON implements json.Marshaler.
func (v SessionConfigValue) MarshalJSON() ([]byte, error) {
	if v.IsBoolean {
		return marshal(v.Bool)
	}
	return marshal(v.ID)
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *SessionConfigValue) UnmarshalJSON(raw []byte) error {
	if b, err := boolean(raw); err == nil {
		*v = SessionConfigValue{Bool: b, IsBoolean: true}
		return nil
	}
	id, err := text[SessionConfigValueId](raw)
	if err != nil {
		return problem("must be a string or a boolean")
	}
	*v = SessionConfigValue{ID: id}
	return nil
}
