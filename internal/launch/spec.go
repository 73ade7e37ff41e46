package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// HelperArg is the first argument that makes our binary act as the helper.
const HelperArg = "__exec"

// Spec describes one command. It is complete: the helper adds nothing to it
// from its own surroundings.
type Spec struct {
	// Text is the command, run exactly as given. It holds no NUL byte.
	Text string
	// Shell runs the text; see [FindShell].
	Shell Shell
	// Dir is the absolute directory the shell starts in. PWD is set to it.
	Dir string
	// Env is the whole environment as NAME=value; see [Env].
	Env []string
	// Limits bound every process of the command (X5).
	Limits Limits
	// Policy is handed unread to the steps of [Helper].
	Policy json.RawMessage
}

// Limits are resource limits of a command's processes. Zero leaves a limit as
// the agent has it. A limit is never raised. They have no effect on Windows.
type Limits struct {
	CPU       uint64 `json:"cpu,omitempty"`       // processor time of one process, in seconds
	Memory    uint64 `json:"memory,omitempty"`    // address space of one process, in bytes
	FileSize  uint64 `json:"file_size,omitempty"` // largest file one process may write, in bytes
	Processes uint64 `json:"processes,omitempty"` // processes and threads of the user, all programs counted
}

// Status is how a command ended.
type Status struct {
	// ExitCode is the shell's exit code, or 128 plus the signal's number when
	// a signal ended it.
	ExitCode int `json:"exit_code"`
	// Signal names the signal that ended the shell, such as "SIGKILL"; empty
	// when it exited by itself.
	Signal string `json:"signal,omitempty"`
	// Survivors counts processes of the command that could not be killed,
	// such as those of another user. It is zero unless something is wrong.
	Survivors int `json:"survivors,omitempty"`
}

// wireVersion guards against a helper binary replaced under a running agent.
const wireVersion = 1

// wireSpec is a Spec on its way to the helper. Text and environment travel as
// bytes, because JSON strings would change what is not UTF-8.
type wireSpec struct {
	Version int             `json:"v"`
	Text    []byte          `json:"text"`
	Path    string          `json:"path"`
	Args    []string        `json:"args"`
	Dir     []byte          `json:"dir"`
	Env     []byte          `json:"env"` // NUL between the entries
	Limits  Limits          `json:"limits"`
	Policy  json.RawMessage `json:"policy,omitempty"`
	Fifos   *fifos          `json:"fifos,omitempty"`
}

// record is one line from the helper to the agent.
type record struct {
	Helper int     `json:"helper,omitempty"` // the helper's pid, once it holds all channels
	Shell  int     `json:"shell,omitempty"`  // the shell's pid, once it runs
	Error  string  `json:"error,omitempty"`  // why the shell could not be started
	Status *Status `json:"status,omitempty"` // the end; the tree is gone
}

// check refuses what the helper could not run as asked.
func (s *Spec) check() error {
	switch {
	case s.Text == "":
		return errors.New("launch: empty command")
	case strings.ContainsRune(s.Text, 0):
		return errors.New("launch: command holds a NUL byte")
	case !filepath.IsAbs(s.Shell.Path):
		return fmt.Errorf("launch: shell %q is not an absolute path", s.Shell.Path)
	case !filepath.IsAbs(s.Dir):
		return fmt.Errorf("launch: directory %q is not an absolute path", s.Dir)
	}
	for _, e := range s.Env {
		name, _, ok := strings.Cut(e, "=")
		if !ok || name == "" || strings.ContainsRune(e, 0) {
			return fmt.Errorf("launch: environment entry %q is not NAME=value", name)
		}
	}
	return nil
}

// encode returns the spec as one line of JSON. Each of extra is added to the
// environment in place of an entry of the same name.
func (s *Spec) encode(f *fifos, extra ...string) ([]byte, error) {
	b, err := json.Marshal(wireSpec{
		Version: wireVersion,
		Text:    []byte(s.Text),
		Path:    s.Shell.Path,
		Args:    s.Shell.Args,
		Dir:     []byte(s.Dir),
		Env:     []byte(strings.Join(overlay(s.Env, extra), "\x00")),
		Limits:  s.Limits,
		Policy:  s.Policy,
		Fifos:   f,
	})
	if err != nil {
		return nil, fmt.Errorf("launch: encode command: %w", err)
	}
	return append(b, '\n'), nil
}

// decodeSpec is the reverse of encode. The named pipes are nil in the local form.
func decodeSpec(line []byte) (Spec, *fifos, error) {
	var w wireSpec
	if err := json.Unmarshal(line, &w); err != nil {
		return Spec{}, nil, fmt.Errorf("launch: decode command: %w", err)
	}
	if w.Version != wireVersion {
		return Spec{}, nil, fmt.Errorf("launch: command of version %d given to a helper of version %d: restart the agent", w.Version, wireVersion)
	}
	s := Spec{
		Text:   string(w.Text),
		Shell:  Shell{Path: w.Path, Args: w.Args},
		Dir:    string(w.Dir),
		Limits: w.Limits,
		Policy: w.Policy,
	}
	if len(w.Env) > 0 {
		s.Env = strings.Split(string(w.Env), "\x00")
	}
	if err := s.check(); err != nil {
		return Spec{}, nil, err
	}
	if w.Fifos != nil {
		if err := w.Fifos.check(); err != nil {
			return Spec{}, nil, err
		}
	}
	return s, w.Fifos, nil
}

// argv is the shell's argument vector.
func (s *Spec) argv() []string {
	argv := append([]string{s.Shell.Path}, s.Shell.Args...)
	return append(argv, s.Text)
}

// line encodes a record for the status channel.
func (r record) line() []byte {
	b, err := json.Marshal(r)
	if err != nil {
		return []byte("{}\n") // a struct of numbers and strings always encodes
	}
	return append(b, '\n')
}

// decodeRecord reads one line of the status channel. A line that is no record
// is what a crashing helper printed, and becomes its error.
func decodeRecord(line []byte) record {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return record{Error: "helper: " + string(bytes.TrimSpace(line))}
	}
	return r
}
