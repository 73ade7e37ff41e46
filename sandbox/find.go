package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"acp-agent/internal/launch"
	"acp-agent/internal/userfile"
)

// Finder finds out what works on this machine, by confining a command of our own
// and looking at what it could do all the same (S2).
type Finder struct {
	Launcher *launch.Launcher
	// Dir is a private directory in which trials are made; it is created.
	Dir string
	// Level is the kind that the user requires. Empty means the strongest that
	// works, and none if none does.
	Level Kind
}

const (
	// trialLimit bounds one trial.
	trialLimit  = 10 * time.Second
	trialPrefix = "trial-"
)

// Find is the function of a [Probe].
func (f *Finder) Find(ctx context.Context) Report {
	if f.Level == None {
		return Report{Kind: None, Notes: []string{"The sandbox is switched off in your configuration: rules and questions are all there is."}}
	}
	var notes []string
	for _, kind := range candidates() {
		if f.Level != "" && f.Level != kind {
			continue
		}
		found, err := f.try(ctx, kind)
		if err == nil {
			found.Notes = append(found.Notes, limits(found)...)
			if !kind.HasView() { // both of these promise the same
				found.Notes = append(found.Notes, notes...)
			}
			return found
		}
		if _, no := errors.AsType[*placeError](err); no {
			return f.noPlace(err)
		}
		if ctx.Err() != nil { // which says nothing about the machine
			return Report{Kind: None, Refused: errEnding}
		}
		notes = append(notes, fmt.Sprintf("%s does not work here: %v.", kind, err))
		if kind == Bubblewrap && restrictsNamespaces(restrictionFile) {
			notes = append(notes, "This system lets only programs with a profile of AppArmor use user namespaces; docs/security.md says how bwrap gets one.")
		}
	}
	if f.Level == "" {
		return Report{Kind: None, Notes: append(notes, "There is no sandbox here: rules and questions are all there is.")}
	}
	if len(notes) == 0 {
		notes = []string{fmt.Sprintf("%s is not for this system.", f.Level)}
	}
	return Report{Kind: None, Refused: fmt.Sprintf(
		"your configuration requires the sandbox %q: %s Install what it needs, or change sandbox.level", f.Level, strings.Join(notes, " "))}
}

// restrictionFile holds "1" where AppArmor takes the rights in a user namespace from programs that it does not know, as on Ubuntu.
const restrictionFile = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"

// restrictsNamespaces reports whether the file says that the system does that.
func restrictsNamespaces(file string) bool {
	text, err := os.ReadFile(file)
	return err == nil && strings.TrimSpace(string(text)) == "1"
}

// placeError says that a trial found no place on the disk, which tells nothing of the kinds.
type placeError struct{ error }

// noPlace is the report where no kind could be tried out.
func (f *Finder) noPlace(err error) Report {
	why := fmt.Sprintf("Whether a sandbox works here could not be tried out: %v.", err)
	if f.Level == "" {
		return Report{Kind: None, NoPlace: true, Notes: []string{why}}
	}
	return Report{Kind: None, NoPlace: true, Refused: fmt.Sprintf("your configuration requires the sandbox %q. %s", f.Level, why)}
}

// candidates are the kinds that this system may have, strongest first.
func candidates() []Kind {
	switch runtime.GOOS {
	case "linux":
		return []Kind{Namespaces, Bubblewrap, Landlock}
	case "darwin":
		return []Kind{Seatbelt}
	}
	return nil
}

// programOf is the system's program for a kind. It is looked for where only the
// system puts programs, whatever the PATH says.
func programOf(kind Kind) (string, error) {
	var name string
	switch kind {
	case Bubblewrap:
		name = "bwrap"
	case Seatbelt:
		name = "sandbox-exec"
	default:
		return "", nil
	}
	const dirs = "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin"
	program, ok := launch.FindProgram(name, dirs, nil)
	if !ok {
		return "", fmt.Errorf("the program %s is not installed", name)
	}
	if info, err := os.Stat(program); err != nil || info.Mode().Perm()&0o022 != 0 {
		return "", fmt.Errorf("others than its owner may change %s", program)
	}
	return program, nil
}

// try makes the trial of one kind.
func (f *Finder) try(ctx context.Context, kind Kind) (Report, error) {
	program, err := programOf(kind)
	if err != nil {
		return Report{}, err
	}
	dir, unlock, err := f.trialDir()
	if err != nil {
		return Report{}, &placeError{err}
	}
	defer unlock()
	defer os.RemoveAll(dir)
	secret := rand.Text()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte(secret), 0o600); err != nil {
		return Report{}, &placeError{err}
	}
	c := canary{
		Outside: filepath.Join(dir, "outside", "made"), Inside: filepath.Join(dir, "inside", "made"),
		Secret: filepath.Join(dir, "secret"),
	}
	policy := Policy{
		Kind: kind, Program: program, Writable: []string{filepath.Join(dir, "inside")}, Masked: []string{c.Secret},
		Readable: []string{filepath.Dir(f.Launcher.Self), filepath.Join(dir, "outside")},
	}
	if err := f.run(ctx, policy, &c); err != nil {
		return Report{}, err
	}
	problem, closed := c.passed(secret)
	if problem != "" {
		return Report{}, errors.New(problem)
	}
	return Report{Kind: kind, Network: closed, Program: program}, nil
}

// leftoverAge is when a trial's directory without a lock is certainly that of an agent
// which was killed before it took the lock.
const leftoverAge = time.Hour

// trialLock is a file that is locked while the trial runs.
const trialLock = "lock"

// trialDir makes the directories of a trial, and removes the ones that killed agents left. They
// are the trial's until unlock.
func (f *Finder) trialDir() (dir string, unlock func(), err error) {
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return "", nil, err
	}
	left, _ := os.ReadDir(f.Dir) // else they stay
	for _, entry := range left {
		if info, err := entry.Info(); err == nil && strings.HasPrefix(entry.Name(), trialPrefix) && f.abandoned(info) {
			_ = os.RemoveAll(filepath.Join(f.Dir, entry.Name()))
		}
	}
	if dir, err = os.MkdirTemp(f.Dir, trialPrefix); err != nil {
		return "", nil, err
	}
	unlock, err = userfile.Lock(context.Background(), filepath.Join(dir, trialLock), trialLimit)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	for _, name := range []string{"inside", "outside"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(dir, name), 0o700))
	}
	real, resolved := filepath.EvalSymlinks(dir)
	if err = errors.Join(err, resolved); err != nil {
		unlock()
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return real, unlock, nil
}

// abandoned reports whether no agent uses the directory of a trial.
func (f *Finder) abandoned(info os.FileInfo) bool {
	lock := filepath.Join(f.Dir, info.Name(), trialLock)
	if _, err := os.Lstat(lock); err != nil {
		return time.Since(info.ModTime()) > leftoverAge
	}
	return !locked(lock)
}

// run runs the trial under the policy and reads what came of it into c.
func (f *Finder) run(ctx context.Context, policy Policy, c *canary) error {
	ctx, cancel := context.WithTimeout(ctx, trialLimit)
	defer cancel()
	args, err := json.Marshal(c)
	if err != nil {
		return err
	}
	spec := launch.Spec{Argv: []string{f.Launcher.Self, CanaryArg, string(args)}, Dir: filepath.Dir(c.Inside)}
	if spec.Policy, err = policy.Encode(); err != nil {
		return err
	}
	var out, errs bytes.Buffer
	process, err := f.Launcher.StartStreams(ctx, spec, launch.Streams{Output: &out, Errors: &errs})
	if err != nil {
		return err
	}
	status, err := process.Wait(ctx)
	if err != nil {
		process.Stop(0)
		<-process.Done()
		return errors.New("a trial command did not end")
	}
	if status.ExitCode != 0 || json.Unmarshal(out.Bytes(), c) != nil {
		return fmt.Errorf("a trial command failed: %s", strings.Join(strings.Fields(errs.String()), " "))
	}
	return nil
}

// limits say what a kind does not promise.
func limits(r Report) []string {
	var notes []string
	switch r.Kind {
	case Landlock:
		notes = append(notes,
			"Landlock has no view of its own of the disk: the project's .git/hooks and configuration directories are put back after a command instead of being kept from it, "+
				"secret files inside the project can be read, and the owner and mode of files outside can be changed.",
			"Without the network, commands cannot reach servers of their own on this machine either.")
	case Seatbelt:
		notes = append(notes, "A process that leaves its group and its session may outlive the command.")
	}
	if !r.Network {
		notes = append(notes, "The network cannot be closed here.")
	}
	return notes
}
