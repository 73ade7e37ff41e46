package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"acp-agent/internal/launch"
)

// closesFiles reports whether Landlock keeps secrets from the command within bubblewrap. It
// costs the start of our binary once more, and leaves a file's size and times as they are,
// by which git knows what has changed; what bubblewrap mounts on a file has others, and
// each mount takes longer than the one before. A command that writes cannot have it: it
// could not read what it makes beside a secret.
func (p *Policy) closesFiles() bool {
	return p.Reading && len(p.Secrets) > 0 && landlockVersion() > 0
}

// innerTask is what our binary does from within, before it becomes the command.
type innerTask struct {
	// Secrets are closed to the command.
	Secrets []string `json:"secrets"`
	// Checked must be what they were.
	Checked []checkedFile `json:"checked"`
	// Mounts are looked at; nil where no one can have changed what they are made of.
	Mounts *wantedMounts `json:"mounts"`
}

// inner puts our binary, which the command sees at [innerPath], before the command, to close the secrets
// from within, and to look at what was checked, and at the mounts of the view.
func (p *Policy) inner(start *launch.Start, v view) error {
	task := innerTask{Checked: p.Checked}
	if p.looksAtMounts() {
		var err error
		if task.Mounts, err = p.wantedMounts(v); err != nil {
			return err
		}
	}
	for _, at := range p.places() {
		if at.access == secret && p.closesFiles() {
			task.Secrets = append(task.Secrets, at.path)
		}
	}
	data, err := json.Marshal(task)
	if err != nil {
		return err
	}
	list, err := fileOf(data)
	if err != nil {
		return fmt.Errorf("hand over what to do within: %w", err)
	}
	start.Argv = append([]string{innerPath, InnerArg, fmt.Sprint(start.Hand(list))}, start.Argv...)
	return nil
}

// Inner is the main of our binary within bubblewrap: it does what can
// be read from the descriptor of its first argument, and becomes the program of the others.
// It returns only when that fails.
func Inner(args []string) int {
	const failed = 125 // as env and timeout use it: the command was never run
	fmt.Fprintln(os.Stderr, "acp-agent: sandbox:", becomeProgram(args))
	return failed
}

// becomeProgram returns only when it fails.
func becomeProgram(args []string) error {
	var fd int
	if len(args) < 2 {
		return fmt.Errorf("%s is started by the agent itself, not by hand", InnerArg)
	}
	if _, err := fmt.Sscan(args[0], &fd); err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "task")
	data, err := io.ReadAll(f)
	f.Close()
	if err != nil {
		return err
	}
	var task innerTask
	if err := json.Unmarshal(data, &task); err != nil {
		return err
	}
	if err := lookAgain(task.Checked); err != nil {
		return err
	}
	if task.Mounts != nil {
		if err := task.Mounts.check(); err != nil {
			return err
		}
	}
	runtime.LockOSThread() // only this thread is restricted, and goes on as the program
	if len(task.Secrets) > 0 {
		if err := closeFiles(task.Secrets); err != nil {
			return err
		}
	}
	return fmt.Errorf("start %q: %w", args[1], unix.Exec(args[1], args[1:], os.Environ()))
}

// closeFiles keeps the calling thread from reading the files.
func closeFiles(secrets []string) error {
	set, err := makeRuleset(unix.LandlockRulesetAttr{Handled_access_fs: unix.LANDLOCK_ACCESS_FS_READ_FILE}, unsafe.Offsetof(unix.LandlockRulesetAttr{}.Handled_access_net))
	if err != nil {
		return err
	}
	defer unix.Close(set.fd)
	set.close(secrets)
	if err := set.allowBut("/", secrets); err != nil {
		return err
	}
	return set.enter()
}
