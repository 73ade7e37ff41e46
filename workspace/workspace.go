package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"acp-agent/internal/rootfile"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/workspace/private"
	"acp-agent/workspace/run"
	"acp-agent/workspace/undo"
	"acp-agent/workspace/undo/recovery"
)

// Workspace is the ground of one session, as one agent of it may use it: the main one,
// or one that work was delegated to ([Workspace.Delegate]). It is safe for concurrent
// use.
type Workspace struct {
	*shared
	delegate Delegate // zero for the main agent

	// What a person opened for this agent; shared.mu guards it.
	adHoc    []*root            // read-only, opened by an "always"
	grants   map[string][]*root // by call
	released bool
}

// shared is what all agents of a session have together.
type shared struct {
	o         Options
	place     kinds.Place
	fixed     []*root // the session's roots, then those of the configuration
	session   int     // how many of fixed are the session's
	private   *private.Dir
	leftovers *recovery.Leftovers
	quota     atomic.Int64 // bytes that sidecars may still take
	history   *undo.History
	editor    editing
	runner    *run.Runner
	inFlight  inFlight

	mu     sync.Mutex
	own    []*root                 // the private directory, then scratch, once they were opened
	agents map[*Workspace]struct{} // those that were not released
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
	s := &shared{o: o, agents: map[*Workspace]struct{}{}, calls: map[*Call]struct{}{}}
	w := s.agent(Delegate{})
	if err := w.openRoots(); err != nil {
		w.closeRoots()
		return nil, err
	}
	w.place = kinds.Place{Cwd: w.fixed[0].given, Home: o.Directories.Home}
	var err error
	if w.private, err = private.New(o.Directories.State, o.SessionID); err != nil {
		w.closeRoots()
		return nil, err
	}
	w.leftovers = recovery.NewLeftovers(w.private)
	w.quota.Store(w.o.Limits.SidecarBytes)
	w.history = undo.New(undo.Options{
		Roots: w.dirs(w.fixed[:w.session]), Secret: o.Protection.Secret, Images: w.private.Images, MaxBytes: o.JournalBytes,
		MaxText: o.Limits.FileBytes, IsText: isText, Now: o.Now, Fault: o.fault,
	})
	w.editor = editing{editor: o.Editor.Files, timeout: o.Editor.Timeout, seen: map[string]sighting{}}
	w.runner = run.New(o.Commands, w.forCommands())
	return w, nil
}

func (w *Workspace) openRoots() error {
	dirs := w.o.Directories
	for _, dir := range slices.Concat([]string{dirs.Cwd}, dirs.Additional) {
		r, err := openRoot(dir)
		if err != nil {
			return err
		}
		r.write, r.editor = true, true
		w.fixed = append(w.fixed, r)
	}
	w.session = len(w.fixed)
	for i, dir := range slices.Concat(dirs.Write, dirs.Read) {
		r, err := openRoot(w.place.Abs(dir))
		if err != nil {
			continue // a cache that is not there has nothing to read
		}
		r.write = i < len(dirs.Write)
		w.fixed = append(w.fixed, r)
	}
	return nil
}

// roots are the directories a call may use at this moment.
func (w *Workspace) roots(callID string) []*root {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Concat(w.fixed, w.privateRoots(), w.adHoc, w.grants[callID])
}

// privateRoots are the session's private directory and scratch as roots; none before
// they are created and after they are removed. The caller holds mu.
func (s *shared) privateRoots() []*root {
	own, scratch := s.private.Handles()
	if own == nil {
		return nil
	}
	if s.own == nil {
		s.own = handleRoots(s.private, own, scratch)
	}
	return s.own
}

// Session returns what a tool may know of the session. Roots are the session's
// own directories, Cwd first; Scratch exists from its first use on.
func (w *Workspace) Session() tools.Session {
	s := tools.Session{
		ID:       w.o.SessionID,
		Env:      tools.Env{Place: w.place, Resolve: w.Resolve, Undoing: w.undoing},
		Scratch:  w.private.Scratch(),
		Limits:   w.o.Limits,
		Guidance: w.o.Guidance(),

		IsSubagent: w.delegate.Parent != "",
		Path:       w.delegate.Path,
	}
	if s.Path == nil {
		s.Path = []string{s.ID}
	}
	for _, r := range w.fixed[:w.session] {
		s.Roots = append(s.Roots, r.path)
	}
	return s
}

// Resolve follows the links of an absolute path as far as it exists. It never
// fails: a path that cannot be followed is returned as it is.
func (w *Workspace) Resolve(abs string) string {
	t, err := follow(w.abs(abs))
	if err != nil {
		return w.abs(abs)
	}
	return t.real()
}

// abs makes a path as a model writes it absolute.
func (w *Workspace) abs(path string) string { return w.place.Abs(plainPath(path)) }

// Runner runs the session's commands and programs.
func (w *Workspace) Runner() *run.Runner { return w.runner }

// dirs are roots as those who only look below them know them.
func (w *Workspace) dirs(roots []*root) []rootfile.Dir {
	dirs := make([]rootfile.Dir, len(roots))
	for i, r := range roots {
		dirs[i] = rootfile.Dir{Path: r.path, Handle: r.handle}
	}
	return dirs
}

// forCommands is what the runner is told of the workspace.
func (w *Workspace) forCommands() run.Workspace {
	roots := make([]run.Root, len(w.fixed))
	for i, r := range w.fixed {
		roots[i] = run.Root{Dir: rootfile.Dir{Path: r.path, Handle: r.handle}, Write: r.write}
	}
	return run.Workspace{
		Roots: roots, Own: w.session, WorkingDir: w.workingDir, Private: w.private, Journal: w.history.Journal,
		Limits: w.o.Limits, Protection: w.o.Protection,
	}
}

// Close ends the session, for all of its agents: it stops their commands, waits until
// they are gone, and removes the private directory (R149). grace is the time between TERM and KILL.
// Calls that still run find everything closed; only what they changed by half
// they may still take back, for at most 5 s (R128). A second Close, beside or
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
		w.private.Remove()
		w.closeRoots()
	}
}

const finishWait = 5 * time.Second

// finish waits for changes and rollbacks that have begun: they need the roots,
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

func (w *Workspace) closeRoots() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.fixed {
		_ = r.handle.Close() // only ever read through
	}
	for agent := range w.agents {
		agent.shut()
	}
}

// secret reports whether any name of a path is a secret's (P3).
func (w *Workspace) secret(t *trail) bool { return slices.ContainsFunc(t.names, w.o.Protection.Secret) }

// foreign reports whether a path lies in the common parent of the sessions'
// directories, but not in this session's own (R107).
func (w *Workspace) foreign(t *trail, r *root) bool {
	if r != nil && r.own {
		return false
	}
	parent := w.private.ParentInfo()
	if parent == nil {
		return false
	}
	_, _, inside := t.below(parent)
	return inside
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
