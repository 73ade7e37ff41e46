package session

// AuthError says that no session can work until credentials are set.
type AuthError struct{ Message string }

// Error says what to set.
func (e *AuthError) Error() string { return e.Message }
