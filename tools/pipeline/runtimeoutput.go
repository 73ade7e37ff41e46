package pipeline

import (
	"acp-agent/internal/redact"
	"acp-agent/tools"
	"acp-agent/workspace"
)

// progressWriter sends what is written to it to the editor, as progress of the call.
type progressWriter struct{ *workspace.Call }

// Write implements io.Writer.
func (w progressWriter) Write(text []byte) (int, error) {
	w.Progress(text)
	return len(text), nil
}

// Progress implements tools.Runtime.
func (r *callRuntime) Progress(text []byte) {
	_, _ = r.progress.Write(text) // progressWriter takes everything
}

// Finish ends the call, see workspace.Call, after it has sent the rest of the progress.
func (r *callRuntime) Finish() {
	_ = r.progress.Flush() // progressWriter takes everything
	r.Call.Finish()
}

// Sidecar implements tools.Runtime. A sidecar contains no keys either.
func (r *callRuntime) Sidecar() (tools.Sidecar, error) {
	sidecar, err := r.Call.Sidecar()
	if err != nil || r.keys.Empty() {
		return sidecar, err
	}
	return &redactedSidecar{Sidecar: sidecar, out: redact.NewWriter(sidecar, redact.Stream{Values: r.keys})}, nil
}

// redactedSidecar removes keys from what is written to a sidecar.
type redactedSidecar struct {
	tools.Sidecar
	out *redact.Writer
}

// Write implements io.Writer.
func (s *redactedSidecar) Write(p []byte) (int, error) { return s.out.Write(p) }

// Close writes the rest, which was held back because it might be part of a key.
func (s *redactedSidecar) Close() error {
	if err := s.out.Flush(); err != nil {
		_ = s.Sidecar.Close()
		return err
	}
	return s.Sidecar.Close()
}
