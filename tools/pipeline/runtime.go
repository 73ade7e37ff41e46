package pipeline

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"acp-agent/capability"
	"acp-agent/internal/record"
	"acp-agent/internal/redact"
	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

// callRuntime is the tools.Runtime of one call: the files and commands of the workspace, the network and
// the services of the session, all within what the tool has declared.
type callRuntime struct {
	*workspace.Call
	tool     string
	scope    capability.Compiled
	net      tools.Net
	services tools.Services
	// denied reports a path that a rule forbids the tool to read; nil means that
	// none does.
	denied   func(path string) bool
	keys     *redact.Values
	texts    []judgedText   // run in the place of commands
	progress *redact.Writer // output of the running call for the editor
	tape     *record.Tape   // of a call that runs again in a replay; nil for any other
}

var _ tools.Runtime = (*callRuntime)(nil)

// runtimeOf returns the runtime of a call, whose events go to sink.
func (p *Pipeline) runtimeOf(c *Prepared, id string, sink transcript.Sink) (*callRuntime, error) {
	scope, err := p.scopeOf(c)
	if err != nil {
		return nil, err
	}
	r := &callRuntime{Call: p.Workspace.Call(id, c.Tool, sink), tool: c.Tool, scope: scope, services: p.Services, net: p.Session.Net(c.Tool), keys: p.Keys}
	r.progress = redact.NewWriter(progressWriter{r.Call}, redact.Stream{Values: p.Keys})
	r.denied = p.Policy.Rules().DenyReading(p.ruleCall(c))
	r.Call.Confine(scope)
	r.Call.Commands().Grant(run.Grant{Offline: p.restricted})
	r.services.Changes = r.Call.Changes()
	r.services.Jobs = p.jobsOf(c, r)
	if c.tape != nil && r.services.Modes != nil && !p.Tape.Plays() {
		r.services.Modes = recordedModes{r.services.Modes, c.tape}
	}
	if rerunsInReplay(c.entry) {
		r.tape = p.Tape
	}
	if p.catalogue.deferring() {
		r.services.Index = toolIndex{p.catalogue, sink}
	}
	return r, nil
}

// Clock implements tools.Runtime. What runs again in a replay sees the time that it saw when it was recorded.
func (r *callRuntime) Clock() tools.Clock { return recordedClock{r.Call.Clock(), r.tape, r.tool} }

type recordedClock struct {
	tools.Clock
	tape *record.Tape
	tool string
}

// Now implements tools.Clock.
func (c recordedClock) Now() time.Time {
	return record.Value(c.tape, "time of a call", c.tool, c.Clock.Now)
}

// FS implements tools.Runtime. Its Hidden reports the files that a rule forbids, for searches through many
// files.
func (r *callRuntime) FS() tools.FS {
	if r.denied == nil {
		return r.Call.FS()
	}
	return ruledFS{r.Call.FS(), r.denied}
}

type ruledFS struct {
	tools.FS
	denied func(path string) bool
}

// Hidden implements tools.FS.
func (f ruledFS) Hidden(path string) bool { return f.denied(path) }

// Services implements tools.Runtime.
func (r *callRuntime) Services() tools.Services { return r.services }

// Net implements tools.Runtime. Hosts that the tool did not declare are refused.
func (r *callRuntime) Net() tools.Net { return scopedNet{r} }

// Processes implements tools.Runtime. Commands that the tool did not declare
// are refused.
func (r *callRuntime) Processes() tools.Processes { return scopedProcesses{r.Call.Processes(), r} }

type scopedNet struct{ *callRuntime }

// Do implements tools.Net.
func (n scopedNet) Do(ctx context.Context, request tools.Request) (*tools.Response, error) {
	if host := hostOf(request.URL); !n.scope.Host(host) {
		return nil, tools.Undeclared(n.tool, "the host "+host)
	}
	if n.net == nil {
		return nil, tools.Errorf(tools.Unavailable, "this session has no network")
	}
	return n.net.Do(ctx, request)
}

type scopedProcesses struct {
	tools.Processes
	*callRuntime
}

// Run implements tools.Processes.
func (p scopedProcesses) Run(ctx context.Context, cmd tools.ShellCommand, output io.Writer) (tools.Exit, error) {
	if !p.scope.Has(capability.CapShellRun) {
		return tools.Exit{}, tools.Undeclared(p.tool, "commands")
	}
	var err error
	if cmd.Text, err = p.judgedAs(cmd); err != nil {
		return tools.Exit{}, err
	}
	// Keys are removed before the tool cuts the output, because half a key is not recognized. The
	// output of Exec is not changed: it may be the new text of a file.
	if output != nil {
		redacted := redact.NewWriter(output, redact.Stream{Values: p.keys, Addresses: true})
		defer func() { _ = redacted.Flush() }() // as with the rest of the output, no one reads the error
		output = redacted
	}
	return p.Processes.Run(ctx, cmd, output)
}

// Exec implements tools.Processes.
func (p scopedProcesses) Exec(ctx context.Context, program tools.Program, output io.Writer) (tools.Exit, error) {
	if !p.scope.Has(capability.CapShellRun) && !p.scope.Run(program.Args) {
		return tools.Exit{}, tools.Undeclared(p.tool, fmt.Sprintf("the program %q", program.Args))
	}
	return p.Processes.Exec(ctx, program, output)
}

// hostOf returns the host of a URL in lower case; "" when the URL cannot be parsed.
func hostOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
}
