package pipeline_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/capability"
	"acp-agent/tools"
)

// R128: what a program of a module changed is found, though it names no command.
func TestTrack_ProgramsWithoutResources(t *testing.T) {
	spec := tools.Spec{Requires: capability.RequirementSet{Capabilities: []string{capability.CapShellRun}}}
	var dir string
	s := customStage(t, spec, func(context.Context, tools.Runtime) (*tools.Result, error) {
		return nil, os.WriteFile(filepath.Join(dir, "made.txt"), nil, 0o600)
	})
	dir = s.dir
	end := s.call(t, "custom", object{})
	if diff := cmp.Diff([]string{filepath.Join(dir, "made.txt")}, end.Result.Metadata.TrackFiles); diff != "" {
		t.Errorf("changed files (-want +got):\n%s", diff)
	}
}
