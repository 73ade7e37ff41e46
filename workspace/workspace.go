package workspace

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"acp-agent/internal/rootfile"
	"acp-agent/tools"
	"acp-agent/workspace/private"
	"acp-agent/workspace/run"
	"acp-agent/workspace/undo"
	"acp-agent/workspace/undo/recovery"
)

// Workspace is the files and commands of one session, as one agent of it may use them:
// the main one, or one that work was delegated to ([Workspace.Delegate]). It is safe for
// concurrent use.
type Workspace struct {
	*shared
	checker
	delegate Delegate // zero for the main agent
}

// shared is what all agents of a session have together.
type shared struct {
	o         Options
	paths     *layout
	leftovers *recovery.Leftovers
	quota     atomic.Int64 // bytes that sidecars may still take
	history   *undo.History
	editor    editing
	runner    *run.Runner
	inFlight  inFlight

	mu     sync.Mutex
	agents map[*Workspace]struct{} // the agents that were not released
	calls  map[*Call]struct{}
	closed bool
}

// isSessionID reports whether an id can be a part of a file's name.
func isSessionID(id string) bool {
	const legal = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	return id != "" && len(id) <= 100 && strings.Trim(id, legal) == ""
}

// New opens the roots of a session. It fails when the session's id is not one,
// or a directory of the client is relative, missing or a file (P9). It creates
// nothing on disk.
func New(o Options) (*Workspace, error) {
	o.fill()
	if !isSessionID(o.SessionID) {
		return nil, fmt.Errorf("session id %q is not valid", o.SessionID)
	}
	paths, err := newLayout(&o)
	if err != nil {
		return nil, err
	}
	s := &shared{o: o, paths: paths, agents: map[*Workspace]struct{}{}, calls: map[*Call]struct{}{}}
	s.leftovers = recovery.NewLeftovers(paths.private)
	s.quota.Store(o.Limits.SidecarBytes)
	s.history = undo.New(undo.Options{
		Roots: paths.dirs(), Secret: o.Protection.Secret, Images: paths.private.Images, MaxBytes: o.JournalBytes, Held: o.Commands.Sandbox.Box.IsMountPoint,
		MaxText: o.Limits.FileBytes, IsText: isText, Now: o.Now, Fault: o.fault,
		Contents: o.Keeping.Contents, Records: o.Keeping.Records, Bounds: o.Keeping.Bounds,
	})
	s.editor = editing{editor: o.Editor.Files, timeout: o.Editor.Timeout, seen: map[string]sighting{}}
	w := s.agent(Delegate{})
	s.runner = run.New(o.Commands, w.forCommands())
	return w, nil
}

// Place is the name of the session's own directory, see [Directories.Former].
func (w *Workspace) Place() string { return w.private.Name() }

// inside reports whether a path leads into the session's directories. Directories that an answer opened do not count.
func (w *Workspace) inside(abs string) bool {
	access, err := w.Check(abs, false)
	return err == nil && access.Inside && !access.Opened
}

// Session returns what a tool may know of the session. Roots are the session's
// own directories, Cwd first; Scratch exists from its first use on.
func (w *Workspace) Session() tools.Session {
	s := tools.Session{
		ID:       w.o.SessionID,
		Env:      tools.Env{Place: w.place, Resolve: w.Resolve, Inside: w.inside, Undoing: w.undoing},
		Scratch:  cmp.Or(w.o.Directories.Scratch, w.private.Scratch()),
		Limits:   w.o.Limits,
		Guidance: w.o.Guidance(),

		IsSubagent: w.delegate.Parent != "",
		Path:       w.delegate.Path,
	}
	if s.Path == nil {
		s.Path = []string{s.ID}
	}
	for _, r := range w.layout.roots() {
		s.Roots = append(s.Roots, r.path)
	}
	return s
}

// Runner runs the session's commands and programs.
func (w *Workspace) Runner() *run.Runner { return w.runner }

// Jobs are the session's commands in the background, as the workspace's agent sees them.
func (w *Workspace) Jobs() run.JobView { return w.runner.Jobs().View(w.delegate.id()) }

// forCommands is what the runner has to know of the workspace.
func (w *Workspace) forCommands() run.Workspace {
	roots := make([]run.Root, len(w.fixed))
	for i, r := range w.fixed {
		roots[i] = run.Root{Dir: rootfile.Dir{Path: r.path, Handle: r.handle}, Write: r.write}
	}
	return run.Workspace{
		Roots: roots, Own: w.session, WorkingDir: w.workingDir, Private: w.private, Journal: w.history.Journal,
		Limits: w.o.Limits, Protection: w.o.Protection,
		Sidecar: func() (tools.Sidecar, error) { return w.newSidecar("job") },
	}
}

// Close ends the session, for all of its agents: it stops their commands, waits until
// they are gone, and removes the private directory (R149). grace is the time between TERM and KILL.
// Calls that still run find everything closed; only what they changed by half
// they may still take back, for at most 5 s (R128). A second Close, during or
// after the first, can only bring the end forward.
func (w *Workspace) Close(grace time.Duration) {
	w.mu.Lock()
	first := !w.closed
	w.closed = true
	for c := range w.calls {
		if !c.late {
			c.end()
		}
	}
	w.mu.Unlock()

	w.runner.Close(grace)
	if first {
		w.finish()
		w.leftovers.Close()
		w.history.Close()
		w.private.Remove()
		w.closeRoots()
	}
}

const finishWait = 5 * time.Second

// finish waits for changes and rollbacks in flight: they need the roots,
// and the pre-images in the private directory. One that hangs must not hold up
// the end of the session.
func (w *Workspace) finish() {
	ctx, cancel := context.WithTimeout(context.Background(), finishWait)
	defer cancel()
	w.inFlight.finish(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.calls {
		c.end()
	}
}

// closeRoots closes what the session and its agents held open.
func (w *Workspace) closeRoots() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.layout.close()
	for agent := range w.agents {
		agent.opened.release()
	}
}

// Sweep removes the directories under stateDir that sessions of killed
// processes left, and the temporary files that their writes left in the
// user's directories (R107). It returns the number of directories it removed.
func Sweep(stateDir string) (removed int, err error) {
	return private.Sweep(stateDir, func(dir string) {
		recovery.Sweep(dir, func(path string) (string, error) {
			t, err := follow(path)
			if err != nil {
				return "", err
			}
			return t.real(), nil
		})
	})
}
