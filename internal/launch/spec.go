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

// Spec describes one command: a text for a shell, or a program with its
// arguments. It is complete: the helper adds nothing to it from its own
// surroundings.
type Spec struct {
	// Text is the command, run exactly as given. It holds no NUL byte.
	Text string
	// Shell runs the text; see [FindShell].
	Shell Shell
	// Argv, when set, is run in place of Text and Shell, with no shell between
	// (C10). It starts with the absolute path of the program, see [FindProgram],
	// and holds no NUL byte.
	Argv []string
	// Dir is the absolute directory the command starts in. PWD is set to it.
	Dir string
	// Env is the whole environment as NAME=value; see [Env].
	Env []string
	// Limits bound every process of the command (X5).
	Limits Limits
	// Policy is handed unread to the steps of [Helper].
	Policy json.RawMessage
	// Enter, when set, is a program by its absolute path and arguments that joins a
	// namespace and becomes the program whose path and arguments follow: the helper is
	// started by it.
	Enter []string
	// Alone says that the helper has no further command: the namespace ends with this one.
	Alone bool

	// openFiles is the limit of open files that the agent was started with; nil where the helper has to find it
	// out.
	openFiles *openFiles
}

// openFiles is a limit of open files.
type openFiles struct {
	Soft uint64 `json:"soft"`
	Hard uint64 `json:"hard"`
}

// Limits are resource limits of a command's processes. Zero leaves a limit as
// the agent has it. A limit is never raised. With any limit set, no process writes
// a core file. They have no effect on Windows; on macOS only the limits of one process
// have.
type Limits struct {
	CPU       uint64 `json:"cpu,omitempty"`       // processor time of one process, in seconds
	FileSize  uint64 `json:"file_size,omitempty"` // largest file one process may write, in bytes
	Files     uint64 `json:"files,omitempty"`     // open files of one process
	Memory    uint64 `json:"memory,omitempty"`    // memory of all processes together, in bytes
	Processes uint64 `json:"processes,omitempty"` // processes and threads of the command
}

// What [Status.Exceeded] can name.
const (
	ExceededMemory    = "memory"
	ExceededProcesses = "processes"
	ExceededFileSize  = "file size"
	ExceededCPU       = "processor time"
)

// Status is how a command ended.
type Status struct {
	// ExitCode is that of the shell or program, or 128 plus the signal's number
	// when a signal ended it.
	ExitCode int `json:"exit_code"`
	// Signal names the signal that ended it, such as "SIGKILL"; empty when it
	// exited by itself.
	Signal string `json:"signal,omitempty"`
	// Survivors counts processes of the command that could not be killed,
	// such as the processes of another user. It is zero unless something is wrong.
	Survivors int `json:"survivors,omitempty"`
	// Exceeded names the limit that ended the command; empty when none did.
	Exceeded string `json:"exceeded,omitempty"`
}

// wireVersion guards against a helper binary replaced under a running agent.
const wireVersion = 4

// wireSpec is a Spec on its way to the helper. Text and environment travel as
// bytes, because JSON strings would change what is not UTF-8.
type wireSpec struct {
	Version int             `json:"v"`
	Text    []byte          `json:"text"`
	Path    string          `json:"path"`
	Args    []string        `json:"args"`
	Argv    []byte          `json:"argv,omitempty"` // NUL after each of them
	Dir     []byte          `json:"dir"`
	Env     []byte          `json:"env"` // NUL between the entries
	Limits  Limits          `json:"limits"`
	Policy  json.RawMessage `json:"policy,omitempty"`
	Started *openFiles      `json:"started,omitempty"`
	Alone   bool            `json:"alone,omitempty"`
	channels
}

// channels say over what, besides its standard descriptors, a helper reaches
// its agent and serves its command.
type channels struct {
	Fifos *fifos `json:"fifos,omitempty"`
	// Stdin and Stderr are the command's own: on Linux places among the streams that came with the spec, elsewhere
	// inherited descriptors or handles. 0 is an empty input, and errors that go where the output goes.
	Stdin  uintptr `json:"stdin,omitempty"`
	Stderr uintptr `json:"stderr,omitempty"`
}

// record is one line from the helper to the agent.
type record struct {
	Helper int     `json:"helper,omitempty"` // the helper's pid, once it holds all channels
	Shell  int     `json:"shell,omitempty"`  // the pid of the shell or program, once it runs
	Error  string  `json:"error,omitempty"`  // why it could not be started
	Status *Status `json:"status,omitempty"` // the end; the tree is gone
	// Waits comes with Status: nothing of the command is left in the helper, which waits for the next one.
	Waits bool `json:"waits,omitempty"`
}

// check refuses what the helper could not run as asked.
func (s *Spec) check() error {
	if err := s.checkCommand(); err != nil {
		return err
	}
	if len(s.Enter) > 0 && !filepath.IsAbs(s.Enter[0]) {
		return fmt.Errorf("launch: program %q is not an absolute path", s.Enter[0])
	}
	if !filepath.IsAbs(s.Dir) {
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

// checkCommand looks at what is to be run: a text or a program, not both.
func (s *Spec) checkCommand() error {
	switch {
	case len(s.Argv) > 0 && s.Text != "":
		return errors.New("launch: both a command and a program")
	case len(s.Argv) > 0 && !filepath.IsAbs(s.Argv[0]):
		return fmt.Errorf("launch: program %q is not an absolute path", s.Argv[0])
	case strings.ContainsRune(strings.Join(s.Argv, ""), 0):
		return errors.New("launch: argument holds a NUL byte")
	case len(s.Argv) > 0:
		return nil
	case s.Text == "":
		return errors.New("launch: empty command")
	case strings.ContainsRune(s.Text, 0):
		return errors.New("launch: command holds a NUL byte")
	case !filepath.IsAbs(s.Shell.Path):
		return fmt.Errorf("launch: shell %q is not an absolute path", s.Shell.Path)
	}
	return nil
}

// encode returns the spec as one line of JSON. Each of extra is added to the
// environment in place of an entry of the same name.
func (s *Spec) encode(c channels, extra ...string) ([]byte, error) {
	w := wireSpec{
		Version:  wireVersion,
		Text:     []byte(s.Text),
		Path:     s.Shell.Path,
		Args:     s.Shell.Args,
		Dir:      []byte(s.Dir),
		Env:      []byte(strings.Join(overlay(s.Env, extra), "\x00")),
		Limits:   s.Limits,
		Policy:   s.Policy,
		Started:  s.openFiles,
		Alone:    s.Alone,
		channels: c,
	}
	for _, arg := range s.Argv {
		w.Argv = append(append(w.Argv, arg...), 0)
	}
	b, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("launch: encode command: %w", err)
	}
	return append(b, '\n'), nil
}

// decodeSpec is the reverse of encode. The named pipes are nil in the local form.
func decodeSpec(line []byte) (Spec, channels, error) {
	var w wireSpec
	if err := json.Unmarshal(line, &w); err != nil {
		return Spec{}, channels{}, fmt.Errorf("launch: decode command: %w", err)
	}
	if w.Version != wireVersion {
		return Spec{}, channels{}, fmt.Errorf("launch: command of version %d given to a helper of version %d: restart the agent", w.Version, wireVersion)
	}
	s := Spec{
		Text:   string(w.Text),
		Shell:  Shell{Path: w.Path, Args: w.Args},
		Dir:    string(w.Dir),
		Limits: w.Limits,
		Policy: w.Policy,
		Alone:  w.Alone,

		openFiles: w.Started,
	}
	if len(w.Env) > 0 {
		s.Env = strings.Split(string(w.Env), "\x00")
	}
	if len(w.Argv) > 0 {
		s.Argv = strings.Split(strings.TrimSuffix(string(w.Argv), "\x00"), "\x00")
	}
	if err := s.check(); err != nil {
		return Spec{}, channels{}, err
	}
	if w.Fifos != nil {
		if err := w.Fifos.check(); err != nil {
			return Spec{}, channels{}, err
		}
	}
	return s, w.channels, nil
}

// program is the path of what is started: the shell, or the program itself.
func (s *Spec) program() string {
	if len(s.Argv) > 0 {
		return s.Argv[0]
	}
	return s.Shell.Path
}

// argv is its argument vector.
func (s *Spec) argv() []string {
	if len(s.Argv) > 0 {
		return s.Argv
	}
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

// decodeRecord reads one line of the status channel. A line that is not a record
// is what a crashing helper printed, and becomes its error.
func decodeRecord(line []byte) record {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return record{Error: "helper: " + string(bytes.TrimSpace(line))}
	}
	return r
}
