package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"acp-agent/internal/gitdir"
	"acp-agent/internal/pathname"
)

// Box makes the policies of the commands of all sessions of a process. The zero
// value confines nothing. It is safe for concurrent use; its fields are not changed.
type Box struct {
	// Probe finds the kind that is used; nil finds None.
	Probe *Probe
	// Home is the user's home directory; empty means that it is not known.
	Home string
	// Own are the agent's directories, which hold its key and its sessions.
	Own []string
	// Guarded are directories and files that no command changes, wherever they lie.
	Guarded []string
	// Environ is the agent's environment, which names sockets and caches.
	Environ []string
	// Packages are the package managers' directories. A command that was granted
	// the network may write there, for that is what it was granted it for.
	Packages []string
	// Readable are directories of programs that may lie among Own, such as modules.
	Readable []string
	// CacheDir is the parent of the projects' own build caches; empty means that
	// there are none.
	CacheDir string

	// ClaimsDir is a private directory of the user that keeps, for the next start after a
	// kill, which directories were made to be mounted on; empty keeps nothing.
	ClaimsDir string

	mountPoints mountPoints
	copies      settingsCopies
	looks       homeMemory
	given       directories  // see Outside
	writers     atomic.Int64 // commands that run, or are about to, and can write
}

// Request is what a session asks for one of its commands.
type Request struct {
	// Level is the kind that the user requires now; empty means any.
	Level Kind
	// Roots are the session's directories, the working directory first. Writable
	// are those and others that may be written, Readable others that may be read.
	Roots, Writable, Readable []string
	// Checked are those of all these that the command sees only while they are what they were.
	Checked []File
	// Secrets are files in the roots that must not be read, as far as they are known.
	Secrets []string
	// Hidden are directories in the roots, or around them, which the command sees empty, if it can write
	// nothing there.
	Hidden []string
	// Around shows the working trees of repositories that roots are subdirectories of, but for
	// AroundSecrets; where the kind cannot hide those, the trees are not shown.
	Around        bool
	AroundSecrets []string
	// Protected are files and directories in the roots that stay as they are.
	Protected []string
	// Held are directories in the roots that cannot be moved, where the kind can do that.
	Held []string
	// Private is the session's own directory, of which the command may read what is
	// not among Closed, and write what is in Scratch. Tmp is for its temporary
	// files. Empty means that there is none.
	Private, Scratch, Tmp string
	Closed                []string
	// Programs are what the agent starts by its path, and Arguments the ones that come
	// from a configuration and may name paths: what lies in the home is shown with its
	// directory, within limits ([homeGate.opens]). Arguments open nothing among Own.
	Programs, Arguments []string
	// Named says that the editor or the user names Programs and Arguments: what they name
	// in the machine's directories for temporary files is shown, too ([Box.namedFiles]).
	Named bool
	// Network opens the network. GitConfig leaves the repositories' configuration
	// writable.
	Network, GitConfig bool
	// ViaProxy says that the command reaches the network through the agent's proxy alone: it is started in a
	// network namespace of the session. Packages opens the package managers' directories to it, as Network does.
	ViaProxy, Packages bool
	// SSHAgent is the socket of the user's agent of ssh, if they opened it to commands; one with ViaProxy may
	// use it.
	SSHAgent string
	// Reading is of a command that is to change nothing: of all that is named here it
	// may write Tmp alone.
	Reading bool
	// Caches says whose caches the command has among the project's, so that what one
	// program puts into its own is not run by another that has keys; "" are all others.
	// Such a program does not write in the user's package directories either: no one was
	// asked about what it does with the network.
	Caches string
}

// Confined is a policy with what belongs to it.
type Confined struct {
	// Report is the finding that the policy rests on.
	Report Report
	Policy *Policy
	// Env are variables that lead programs to what they may write.
	Env []string
	// Release gives back what the policy needs while the command runs. It is never
	// nil.
	Release func()
}

// Confine makes the policy of one command, after the finding was made. What the
// user requires and the machine cannot do is an error.
func (b *Box) Confine(ctx context.Context, r Request) (Confined, error) {
	none := Confined{Report: Report{Kind: None}, Policy: &Policy{Kind: None}, Release: func() {}}
	if b == nil {
		if r.Level != "" && r.Level != None {
			return none, errors.New("this session has no sandbox")
		}
		return none, nil
	}
	report, err := b.Probe.Wait(ctx)
	switch {
	case err != nil:
		return none, err
	case report.Refused != "":
		return none, errors.New(report.Refused)
	case r.Level != "" && r.Level != None && r.Level != report.Kind:
		return none, fmt.Errorf("your configuration requires the sandbox %q, and this process has found %q: restart the agent", r.Level, report.Kind)
	case !report.Confines():
		none.Report = report
		return none, nil
	}
	r.Around = r.Around && (len(r.AroundSecrets) == 0 || report.Kind.HasView())
	if r.Around {
		r.Secrets = slices.Concat(r.Secrets, r.AroundSecrets)
	}
	home := b.home(r)
	p := &Policy{
		Kind: report.Kind, Program: report.Program, Tmp: r.Tmp, Network: r.Network, ViaProxy: r.ViaProxy,
		Masked:    slices.Concat(b.masked(r, report.Kind), home.masked, r.Closed, r.Hidden),
		Secrets:   r.Secrets,
		Checked:   checked(r.Checked),
		Readable:  slices.Concat(r.Readable, nonEmpty(r.Private), home.readable(b), b.Readable),
		Concealed: nonEmpty(home.concealed),
	}
	p.Beside = b.writers.Load() > 0
	c := Confined{Report: report, Policy: p, Env: slices.Concat(tmpEnv(r, p), home.env(b, r, p)), Release: func() {}}
	if r.Reading {
		p.Reading = true
		PrepareTmp(r.Tmp)
		p.Readable = slices.Concat(p.Readable, r.Writable)
		c.Env = slices.Concat(c.Env, scratchCaches(r, p))
		return c, nil
	}
	p.Writable = slices.Concat(r.Writable, pinned(r.Roots), r.Held, b.holders(r), nonEmpty(r.Scratch))
	p.ReadOnly = b.protected(r)
	c.Env = append(c.Env, b.ssh(r, p)...)
	for _, repo := range home.repositories {
		p.Writable = append(p.Writable, writableOf(repo)...)
		p.ReadOnly = append(p.ReadOnly, protectedOf(repo, r.GitConfig)...)
	}
	if (r.Network || r.Packages) && r.Caches == "" {
		p.Writable = append(p.Writable, b.Packages...)
	}
	c.Env = slices.Concat(c.Env, b.caches(r, p))
	b.Give(p.Writable...)
	release := b.mountPoints.acquire(b.ClaimsDir, b.guarded(r, home.repositories, report.Kind))
	b.writers.Add(1)
	c.Release = sync.OnceFunc(func() {
		b.writers.Add(-1)
		release()
	})
	return c, nil
}

// IsMountPoint reports whether a directory is there only so that something can be mounted on it for a command
// that runs. A nil Box holds none.
func (b *Box) IsMountPoint(dir string) bool { return b != nil && b.mountPoints.has(dir) }

// configDirs are the agent's own directories in a project.
var configDirs = [...]string{".acp-agent", ".agents"}

// guarded are the directories that must be there to be kept from a command: what is
// not there cannot be covered. They are made, and removed again when no one needs
// them. Hooks belong to a repository, so none are made where there is none.
func (b *Box) guarded(r Request, repos []gitdir.Repository, kind Kind) []string {
	if !kind.HasView() {
		return nil
	}
	dirs := slices.Concat(b.holders(r), b.reachable(r), hooksOf(repos))
	for _, root := range r.Roots {
		dirs = append(dirs, under(root, configDirs[:])...)
		if info, err := os.Lstat(filepath.Join(root, ".git")); err == nil && info.IsDir() {
			dirs = append(dirs, filepath.Join(root, ".git", "hooks"))
		}
	}
	return dirs
}

// protected is what stays as it is inside the roots (S3).
func (b *Box) protected(r Request) []string {
	paths := slices.Concat(b.reachable(r), r.Protected)
	for _, root := range r.Roots {
		paths = append(paths, under(root, configDirs[:])...)
		git := filepath.Join(root, ".git")
		paths = append(paths, filepath.Join(git, "hooks"))
		if info, err := os.Lstat(git); err == nil && !info.IsDir() {
			paths = append(paths, git) // it says where the repository is
		}
		if !r.GitConfig {
			paths = append(paths, under(git, configFiles[:])...)
		}
	}
	if slices.ContainsFunc(r.Writable, func(dir string) bool { return b.Home != "" && pathname.Contains(dir, b.Home) }) {
		paths = append(paths, under(b.Home, startUp[:])...)
	}
	return paths
}

// reachable are the guarded paths that the command could write otherwise.
func (b *Box) reachable(r Request) []string {
	return slices.DeleteFunc(slices.Clone(b.Guarded), func(path string) bool {
		return !slices.ContainsFunc(r.Writable, func(dir string) bool { return path != dir && pathname.Contains(dir, path) })
	})
}

// holders are the directories that hold those, below the roots. Mounted on themselves,
// they cannot be moved out of the way.
func (b *Box) holders(r Request) []string {
	var dirs []string
	for _, path := range b.reachable(r) {
		if dir := filepath.Dir(path); !slices.Contains(r.Writable, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// pinned are the repositories in the roots: one that is mounted on itself cannot be
// moved out of the way of what is kept read-only in it.
func pinned(roots []string) []string {
	var dirs []string
	for _, root := range roots {
		git := filepath.Join(root, ".git")
		if info, err := os.Lstat(git); err == nil && info.IsDir() {
			dirs = append(dirs, git)
		}
	}
	return dirs
}

func (b *Box) masked(r Request, kind Kind) []string {
	paths := slices.Concat(b.Own, socketDirs[:], sockets(b.Environ))
	if !kind.HasView() {
		return paths // without a view, local sockets stay closed
	}
	// What listens in the project, too, is outside the command's network; servers of the
	// session's own commands are in that network's list and not in this one.
	inUse, _ := os.ReadFile("/proc/net/unix")
	opened := slices.DeleteFunc(slices.Clone(r.Writable), func(dir string) bool { return slices.Contains(r.Roots, dir) })
	for _, path := range socketsInUse(string(inUse), r.Roots) {
		if !slices.ContainsFunc(opened, func(dir string) bool { return pathname.Contains(dir, path) }) {
			paths = append(paths, path)
		}
	}
	if agent := r.sshAgent(); agent != "" {
		paths = slices.DeleteFunc(paths, func(path string) bool { return resolved(path) == agent })
	}
	return paths
}

// programs are the directories in which commands find programs.
func (b *Box) programs() []string {
	var dirs []string
	for _, entry := range b.Environ {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			dirs = slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
		}
	}
	return dirs
}

func nonEmpty(path string) []string {
	if path == "" {
		return nil
	}
	return []string{path}
}
