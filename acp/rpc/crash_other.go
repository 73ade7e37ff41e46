//go:build unix && !linux

package rpc

import "os"

// crashOutput is where the trace of a crash goes: standard error, which cannot be opened
// anew here without the mode that others share.
func (s *Stderr) crashOutput() *os.File { return s.File }
