package session

import (
	"path/filepath"

	"acp-agent/internal/record"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

// directories is how a recording keeps a session's directories: their paths without links, and the name
// of the session's own.
type directories struct {
	Roots []string
	Place string
	// Scratch is where the scratch directory was.
	Scratch string
}

// openWorkspace opens the session's directories. In a replay an empty directory stands for each, under
// the path that it had.
func (o opened) openWorkspace(context systemContext, archive *archive, jobs run.JobHooks) (work *workspace.Workspace, err error) {
	options := o.workspaceOptions(context, archive, jobs)
	had, err := record.Ask(o.host.Tape, "directories", o.ID, func() (had directories, err error) {
		if work, err = workspace.New(options); err == nil {
			had = directories{work.Session().Roots, work.Place(), work.Session().Scratch}
		}
		return had, err
	})
	if err != nil || !o.host.Tape.Plays() {
		return work, err
	}
	next := 0
	options.Directories.Stage = func(dir string) (place, real string) {
		real = filepath.Clean(dir)
		if next < len(had.Roots) {
			real = had.Roots[next]
		}
		next++
		return o.host.Stage, real
	}
	options.Directories.Scratch = had.Scratch
	options.Directories.Former, options.Directories.Read, options.Directories.Write = had.Place, nil, nil
	return workspace.New(options)
}
