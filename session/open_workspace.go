package session

import (
	"path/filepath"
	"slices"

	"acp-agent/internal/record"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
	"acp-agent/tools"
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

// limits are the limits of the settings, with what the client asks for this session.
func (o opened) limits() tools.Limits {
	l := o.settings.Limits
	l.BashDefault = o.spec.CommandTimeout
	return l
}

// workspaceOptions are the options of the session's workspace. former is the name of the own directory that a
// resumed session had.
func (o opened) workspaceOptions(system systemContext, archive *archive, former string, jobs run.JobHooks) workspace.Options {
	h, spec := o.host, o.spec
	protected := func(path string) bool {
		return permissions.Protected(path, h.untouchable()...) != permissions.Unprotected
	}
	options := workspace.Options{
		SessionID: o.ID, Limits: o.limits(), IDs: h.IDs, Locks: &h.Locks,
		Guidance: func() []string { return system.instructions.Files },
		Directories: workspace.Directories{
			Cwd: spec.Cwd, Additional: spec.Additional, Home: h.Home, State: h.StateDir, Former: former,
			Read: slices.Concat(o.settings.ReadRoots, system.skills.Dirs()), Write: o.settings.WriteRoots,
		},
		Protection: run.Protection{Secret: o.secrets.holds, Protected: protected, Hidden: o.secrets.masked},
		Commands: run.Options{
			Launcher: h.Launcher, Environ: h.Environ, Passed: o.settings.Environment, Secrets: h.Secrets(), GitPrograms: command.GitConfigSettings,
			Sandbox:   run.Sandboxing{Box: h.Box, Level: o.settings.Sandbox, Network: o.settings.Network, OfferOutside: o.settings.OfferOutside && o.spec.OptionNames, Earlier: h.directories},
			Terminals: spec.Terminals, Trial: spec.Trial, Jobs: jobs,
		},
	}
	if o.settings.Editor {
		options.Editor.Files = spec.Editor
	}
	if archive.recorder != nil {
		options.Keeping = workspace.Keeping{Contents: storedContents{h.Store, o.ID}, Records: archive.recorder}
	}
	return options
}

// reuseFormer returns the name of the own directory that a resumed session had, after it has removed what a
// killed process left there; "" in a new session.
func (o opened) reuseFormer(archive *archive) (name string) {
	if found, _ := archive.get(placeKey, &name); !found {
		return ""
	}
	if _, err := workspace.Sweep(o.host.StateDir); err != nil {
		o.host.Logger.Info("swept leftovers of killed sessions", "error", err)
	}
	return name
}

// openWorkspace opens the session's directories. In a replay an empty directory stands for each, under
// the path that it had.
func (o opened) openWorkspace(system systemContext, archive *archive, jobs run.JobHooks) (work *workspace.Workspace, err error) {
	options := o.workspaceOptions(system, archive, o.reuseFormer(archive), jobs)
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
