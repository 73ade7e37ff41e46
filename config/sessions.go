package config

// Sessions says how conversations are kept on the disk (R135). Only the user's file may have
// it.
type Sessions struct {
	// Store keeps them.
	Store bool `json:"store"`
	// KeepDays is for how many days a conversation is kept after it was last used; 0 means
	// for ever.
	KeepDays int `json:"keep_days"`
	// MaxBytes bounds all conversations together: beyond it the oldest are removed; 0 means
	// that nothing does.
	MaxBytes int64 `json:"max_bytes"`
}

const (
	defaultSessionDays  = 180
	defaultSessionBytes = 4 << 30
)

func defaultSessions() Sessions {
	return Sessions{Store: true, KeepDays: defaultSessionDays, MaxBytes: defaultSessionBytes}
}

func (f *file) checkSessions(s Sessions) error {
	if s.KeepDays < 0 {
		return f.errorf("sessions.keep_days", "must not be negative, found %d", s.KeepDays)
	}
	if s.MaxBytes < 0 {
		return f.errorf("sessions.max_bytes", "must not be negative, found %d", s.MaxBytes)
	}
	return nil
}
