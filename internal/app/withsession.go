package app

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"acp-agent/session"
)

// withSession opens a session that has no model, for as long as do runs; with
// everyTool, no tool waits to be found.
func withSession(cmd *cobra.Command, dir string, spec session.Spec, everyTool bool, do func(*session.Session) error) error {
	cwd, err := filepath.Abs(dir)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if info, err := os.Stat(cwd); err != nil {
		return &exitError{exitUsage, fmt.Errorf("--cwd: %w", err)}
	} else if !info.IsDir() {
		return &exitError{exitUsage, fmt.Errorf("--cwd: %s is not a directory", cwd)}
	}
	spec.Cwd = cwd
	core := newCore(cmd.ErrOrStderr())
	core.scripted, core.everyTool = noModel{}, everyTool
	defer core.Close()
	s, err := core.Open(cmd.Context(), spec)
	if err != nil {
		return err
	}
	defer s.Close(500 * time.Millisecond)
	return do(s)
}
