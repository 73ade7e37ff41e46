package shelltrace

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Box is an empty namespace in which bash runs: the system read-only, no network, a /tmp
// of its own, and what Mounts adds.
type Box struct {
	Bwrap, Bash string
	Mounts      []string // further options of bubblewrap
	Dir         string   // the working directory
	Env         []string // NAME=value
	// Reads says whether a file outside the system may be opened for reading.
	Reads func(path string) bool
	Limit time.Duration // for one text
}

// Result is what one text did from the moment at which its bash had been started.
type Result struct {
	Programs [][]string // each program that was started, with its arguments
	Offences []string   // files that were opened or changed, sockets: each attempt
	Endless  bool       // it did not end within the limit
	Output   string
}

// driver is the program of the bash that starts a bash for each text. The mark stands
// between their outputs.
const driver = `while IFS= read -r -d "" text; do "$1" --noprofile --norc -c -- "$text" </dev/null 2>&1; printf %s "$0"; done`

// Run runs each text in a bash of its own, one after the other in one namespace. The
// error says that they could not be traced.
func (b Box) Run(texts []string) ([]Result, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var files [3]*os.File // texts, output, seccomp program
	for i, content := range [][]byte{[]byte(strings.Join(texts, "\x00") + "\x00"), nil, filter()} {
		file, err := os.CreateTemp("", "trace-")
		if err != nil {
			return nil, err
		}
		defer os.Remove(file.Name())
		defer file.Close()
		if _, err := file.WriteAt(content, 0); err != nil {
			return nil, err
		}
		files[i] = file
	}
	mark := fmt.Sprintf("\x01%d\x01", time.Now().UnixNano())
	cmd := exec.Command(b.Bwrap, b.args(mark)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[1], files[1]
	cmd.ExtraFiles, cmd.Env = []*os.File{files[2]}, []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t := &tracer{
		reads: b.Reads, limit: b.Limit, results: make([]Result, len(texts)),
		text: map[int]int{}, armed: map[int]bool{}, known: map[int]bool{}, held: map[int]bool{}, pending: map[int]string{},
	}
	err := t.follow(cmd.Process.Pid)
	if t.timer != nil {
		t.timer.Stop()
	}
	if err != nil {
		return nil, err
	}
	_ = cmd.Process.Release()
	return t.collect(files[1].Name(), mark)
}

// collect gives each result its output.
func (t *tracer) collect(name, mark string) ([]Result, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	output, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if t.next < len(t.results) {
		return nil, fmt.Errorf("only %d of %d texts were run: %s", t.next, len(t.results), output)
	}
	for i, piece := range bytes.Split(output, []byte(mark)) {
		if i < len(t.results) {
			t.results[i].Output = string(piece)
		}
	}
	return t.results, nil
}

func (b Box) args(mark string) []string {
	args := []string{"--unshare-all", "--uid", "1000", "--gid", "1000", "--die-with-parent", "--new-session", "--clearenv", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"}
	for _, dir := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"} {
		args = append(args, "--ro-bind-try", dir, dir)
	}
	args = append(append(args, b.Mounts...), "--chdir", b.Dir, "--seccomp", "3")
	for _, kv := range b.Env {
		name, value, _ := strings.Cut(kv, "=")
		args = append(args, "--setenv", name, value)
	}
	return append(args, "--", b.Bash, "--noprofile", "--norc", "-c", driver, mark, b.Bash)
}
