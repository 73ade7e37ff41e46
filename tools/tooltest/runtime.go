package tooltest

import (
	"fmt"
	"io"
	"maps"
	"path"
	"strings"
	"sync"
	"time"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// The directories of every Runtime.
const (
	// Workspace is the session's directory.
	Workspace = "/test-workspace"
	// Home is the user's home directory.
	Home = "/home/tester"
	// Scratch is the session's scratch directory.
	Scratch = "/scratch/ses_test"
)

// Options are what a Runtime starts with. The zero value is an empty workspace
// with the canonical limits.
type Options struct {
	// Files are texts by path, relative to Workspace or absolute.
	Files map[string]string
	// Editor are unsaved texts by path.
	Editor map[string]string
	// Processes are the commands that can be run.
	Processes []Script
	// Limits are the sizes in force; nil means the canonical ones.
	Limits *tools.Limits
	// Roots are the session's directories beside Workspace.
	Roots []string
	// Guidance are the instruction files already loaded.
	Guidance []string
	// Quota bounds a sidecar, in bytes; 0 means that it is unbounded, and
	// below 0 that none can be opened.
	Quota int64
}

// Runtime is a [tools.Runtime] in memory, for one test.
type Runtime struct {
	// Mem is what FS returns.
	Mem *FS
	// Procs is what Processes returns.
	Procs *Processes
	// Time is what Clock returns.
	Time *Clock
	// Sess is what Session returns; a test may change it before a call.
	Sess tools.Session
	// Web is what Net returns; a test sets it.
	Web tools.Net
	// Remembered is the Memory of Services.
	Remembered *Memory
	// Serve is what Services returns, but for Memory and Changes; a test may
	// change it before a call.
	Serve tools.Services

	quota int64

	mu       sync.Mutex
	sidecars map[string]*sidecar
	progress strings.Builder
}

// New returns a Runtime.
func New(o Options) *Runtime {
	limits := tools.CanonicalLimits()
	if o.Limits != nil {
		limits = *o.Limits
	}
	place := kinds.Place{Cwd: Workspace, Home: Home}
	mem := NewFS(place, limits.FileBytes)
	mem.Mkdir(Scratch)
	for name, content := range o.Files {
		mem.Put(name, content)
	}
	for name, content := range o.Editor {
		mem.Edit(name, content)
	}
	processes := NewProcesses(o.Processes...)
	processes.fs = mem
	return &Runtime{
		Web: NetFunc(noNet), Remembered: &Memory{},
		Mem: mem, Procs: processes, Time: &Clock{now: epoch()}, quota: o.Quota,
		Sess: tools.Session{
			ID: "ses_test", Env: tools.Env{Place: place, Resolve: mem.Resolve},
			Roots: append([]string{Workspace}, o.Roots...), Scratch: Scratch, Limits: limits, Guidance: o.Guidance,
		},
		sidecars: map[string]*sidecar{},
	}
}

// FS implements [tools.Runtime].
func (r *Runtime) FS() tools.FS { return r.Mem }

// Processes implements [tools.Runtime].
func (r *Runtime) Processes() tools.Processes { return r.Procs }

// CallID implements [tools.Runtime].
func (r *Runtime) CallID() string { return "call_test" }

// Net implements [tools.Runtime].
func (r *Runtime) Net() tools.Net { return r.Web }

// Services implements [tools.Runtime].
func (r *Runtime) Services() tools.Services {
	services := r.Serve
	services.Memory, services.Changes = r.Remembered, changes{r.Mem}
	return services
}

// Clock implements [tools.Runtime].
func (r *Runtime) Clock() tools.Clock { return r.Time }

// Session implements [tools.Runtime].
func (r *Runtime) Session() tools.Session { return r.Sess }

// Progress implements [tools.Runtime].
func (r *Runtime) Progress(text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Write(text)
}

// Shown is all that was given to Progress.
func (r *Runtime) Shown() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.progress.String()
}

// Sidecar implements [tools.Runtime]. What is written can also be read through
// FS under its path.
func (r *Runtime) Sidecar() (tools.Sidecar, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.quota < 0 {
		return nil, tools.Errorf(tools.Unavailable, "no room for another sidecar")
	}
	s := &sidecar{runtime: r, path: path.Join(Scratch, fmt.Sprintf("output-%d", len(r.sidecars)+1))}
	r.sidecars[s.path] = s
	return s, nil
}

// Sidecars are the contents of all sidecars by path.
func (r *Runtime) Sidecars() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	contents := map[string]string{}
	for name, s := range maps.All(r.sidecars) {
		contents[name] = s.content.String()
	}
	return contents
}

// OpenSidecars counts sidecars that were not closed.
func (r *Runtime) OpenSidecars() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	open := 0
	for _, s := range r.sidecars {
		if !s.closed {
			open++
		}
	}
	return open
}

type sidecar struct {
	runtime *Runtime
	path    string
	content strings.Builder
	dropped int64
	closed  bool
}

func (s *sidecar) Path() string { return s.path }

func (s *sidecar) Write(p []byte) (int, error) {
	s.runtime.mu.Lock()
	defer s.runtime.mu.Unlock()
	if s.closed {
		return 0, io.ErrClosedPipe
	}
	keep := p
	if quota := s.runtime.quota; quota > 0 {
		keep = p[:max(0, min(len(p), int(quota)-s.content.Len()))]
	}
	s.content.Write(keep)
	s.dropped += int64(len(p) - len(keep))
	return len(p), nil
}

func (s *sidecar) Dropped() int64 {
	s.runtime.mu.Lock()
	defer s.runtime.mu.Unlock()
	return s.dropped
}

func (s *sidecar) Close() error {
	s.runtime.mu.Lock()
	s.closed = true
	content := s.content.String()
	s.runtime.mu.Unlock()
	s.runtime.Mem.Put(s.path, content)
	return nil
}

// Clock is a clock that a test moves.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now implements [tools.Clock].
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
