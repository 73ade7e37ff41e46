package config

// Audit configures the record of what tool calls did and who decided (R129). Only the
// user's file may have it.
type Audit struct {
	// Enabled keeps one.
	Enabled bool `json:"enabled"`
	// MaxBytes bounds the file of one session; 0 means that nothing does.
	MaxBytes int64 `json:"max_bytes"`
	// KeepDays is for how many days the file of a session is kept after its last
	// record; 0 means for ever.
	KeepDays int `json:"keep_days"`
}

const (
	defaultAuditBytes = 64 << 20
	defaultAuditDays  = 90
)

func defaultAudit() Audit {
	return Audit{Enabled: true, MaxBytes: defaultAuditBytes, KeepDays: defaultAuditDays}
}

func (f *file) checkAudit(a Audit) error {
	if a.MaxBytes < 0 {
		return f.errorf("audit.max_bytes", "must not be negative, found %d", a.MaxBytes)
	}
	if a.KeepDays < 0 {
		return f.errorf("audit.keep_days", "must not be negative, found %d", a.KeepDays)
	}
	return nil
}
