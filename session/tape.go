package session

import (
	"path/filepath"

	"acp-agent/internal/record"
	"acp-agent/workspace"
)

// directories are what a recording keeps of a session's directories: their paths without links,
// and the name of the session's own.
type directories struct {
	Roots []string
	Place string
	// Scratch is where the scratch directory was.
	Scratch string
}

// openWorkspace opens the session's directories. When a recording is played, an empty directory
// stands for each, under the path that it had.
func (s *Session) openWorkspace(context systemContext) (work *workspace.Workspace, err error) {
	o := s.workspaceOptions(context)
	had, err := record.Ask(s.host.Tape, "directories", s.ID, func() (had directories, err error) {
		if work, err = workspace.New(o); err == nil {
			had = directories{work.Session().Roots, work.Place(), work.Session().Scratch}
		}
		return had, err
	})
	if err != nil || !s.host.Tape.Plays() {
		return work, err
	}
	next := 0
	o.Directories.Stage = func(dir string) (place, real string) {
		real = filepath.Clean(dir)
		if next < len(had.Roots) {
			real = had.Roots[next]
		}
		next++
		return s.host.Stage, real
	}
	o.Directories.Scratch = had.Scratch
	o.Directories.Former, o.Directories.Read, o.Directories.Write = had.Place, nil, nil
	return workspace.New(o)
}
