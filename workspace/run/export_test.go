package run

import (
	"context"

	"acp-agent/internal/launch"
	"acp-agent/sandbox"
)

// The bounds of the guard, for its tests.
const (
	MaxGuardedFiles = maxGuardedFiles
	MaxGuardedBytes = maxGuardedBytes
	MaxGuardNotes   = maxGuardNotes
	MaxTail         = maxTail
)

// Functions whose tests stand next to the tests that need a workspace.
var (
	HoldersOf     = holdersOf
	WantsNetwork  = wantsNetwork
	RefusedSocket = refusedSocket
)

// CloseInput ends the input of a program, which its Close does not do alone.
func (p *Program) CloseInput() error { return p.piped.Stdin.Close() }

// TrialFailed reports whether the client could not start our binary.
func (r *Runner) TrialFailed() bool { return r.o.Trial.Failed() }

// WaitForCleanups waits until the temporary directories of commands that ended are removed.
func (r *Runner) WaitForCleanups() { r.cleanups.Wait() }

// Confine prepares a command that does nothing, without the user having been asked.
func (r *Runner) Confine(ctx context.Context) error {
	_, err := r.confine(ctx, launch.Spec{}, Grant{})
	return err
}

// Checked are what a command sees only while it is what it was.
func (r *Runner) Checked(g Grant) []sandbox.File {
	var request sandbox.Request
	r.addDirectories(&request, launch.Spec{}, g)
	return request.Checked
}

// Watch guards a workspace as before a command that the user was not asked about.
func (r *Runner) Watch() *Watch { return &Watch{r.newGuard(true, r.search(searchQuery{names: true}))} }

// Watch is a guard for tests.
type Watch struct{ g *guard }

// Compare puts back what was changed.
func (w *Watch) Compare() []string { return w.g.restore() }

// MovedAside is what Compare moved aside.
func (w *Watch) MovedAside() []MovedAside { return w.g.asides }

// Mount pretends that the names in the first root are mounted, and returns them.
func (w *Watch) Mount() []string {
	names := w.g.mountable()
	w.g.roots[0].mounted = true
	return names
}

// CompareUnread compares a directory of which one file could not be read before.
func (r *Runner) CompareUnread(dir, name string) []string {
	at := guardedRoot{root: &r.w.Roots[0].Dir, files: map[string]kept{name: {unread: true}}, partly: map[string]bool{}}
	return (&guard{runner: r}).restoreDir(&at, dir)
}
