package app

import (
	"container/list"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/session"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// judgedCall is a call to be explained: one line of the input.
type judgedCall struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
	// Cwd is the workspace; empty means --cwd.
	Cwd string `json:"cwd"`
}

// explained is one line of the output. Its fields are part of the interface.
type explained struct {
	Verdict string         `json:"verdict"` // allow, ask, deny
	Layer   string         `json:"layer"`
	Reason  string         `json:"reason"`
	Rule    *explainedRule `json:"rule,omitempty"`
	// Part is the piece of the call that decided.
	Part string `json:"part,omitempty"`
	// Always are the rules that "always" would store; NoAlways says why there are none.
	Always   []alwaysRule `json:"always"`
	NoAlways string       `json:"no_always,omitempty"`
	Sandbox  string       `json:"sandbox,omitempty"`
	// Watchdog is "not asked" when one is configured that cannot be asked without effect.
	Watchdog string `json:"watchdog,omitempty"`
	// Error says that the line itself could not be used.
	Error string `json:"error,omitempty"`
	Line  int    `json:"line,omitempty"`

	remember string
}

// explainedRule is the rule that decided and where it stands.
type explainedRule struct {
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
	Action     string `json:"action"`
	Scope      string `json:"scope"`
	File       string `json:"file,omitempty"`
	Line       int    `json:"line,omitempty"`
	// Source says where a rule comes from that stands in no file.
	Source string `json:"source,omitempty"`
}

type alwaysRule struct {
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
}

// maxWorkspaces bounds how many workspaces an explainer holds open.
const maxWorkspaces = 32

// explainer explains calls in the workspaces that they name. It keeps the last used ones open,
// because opening one takes far longer than explaining a call. It is for one goroutine.
type explainer struct {
	core *core
	mode string
	// cwd is where calls belong that name no workspace.
	cwd string
	// rules are tried together with the configured ones.
	rules []permissions.Rule

	open  map[string]*list.Element // of *explainedIn, by directory
	order list.List                // last used first
}

type explainedIn struct {
	dir     string
	session *session.Session
}

func newExplainer(core *core, cwd, mode string) (*explainer, error) {
	abs, err := filepath.Abs(cwd)
	if err != nil {
		return nil, err
	}
	core.scripted, core.everyTool, core.readOnly = noModel{}, true, true
	return &explainer{core: core, mode: mode, cwd: abs, open: map[string]*list.Element{}}, nil
}

// trying returns an explainer that adds rules to the configured ones.
func (e *explainer) trying(rules ...permissions.Rule) *explainer {
	return &explainer{core: e.core, mode: e.mode, cwd: e.cwd, rules: rules, open: map[string]*list.Element{}}
}

// close closes the sessions of all workspaces.
func (e *explainer) close() {
	for at := e.order.Front(); at != nil; at = at.Next() {
		at.Value.(*explainedIn).session.Close(0)
	}
	e.order.Init()
	clear(e.open)
}

// in returns the session of a workspace, and opens it where need be.
func (e *explainer) in(ctx context.Context, dir string) (*session.Session, error) {
	if dir == "" {
		dir = e.cwd
	}
	if at, ok := e.open[dir]; ok {
		e.order.MoveToFront(at)
		return at.Value.(*explainedIn).session, nil
	}
	if !filepath.IsAbs(dir) {
		return nil, &exitError{exitUsage, fmt.Errorf("cwd %q must be an absolute directory", dir)}
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, &exitError{exitUsage, fmt.Errorf("cwd: %w", err)}
	} else if !info.IsDir() {
		return nil, &exitError{exitUsage, fmt.Errorf("cwd %q is not a directory", dir)}
	}
	s, err := e.core.Open(ctx, session.Spec{Cwd: dir, Client: session.Client{Sink: transcript.Discard}})
	if err != nil {
		return nil, err
	}
	settling, cancel := context.WithTimeout(ctx, probeTimeout)
	err = s.AwaitMode(settling) // the sandbox decides how commands are confined, and whether mode auto exists
	cancel()
	if err != nil {
		s.Close(0)
		return nil, err
	}
	if e.mode != "" {
		if err := s.SetMode(e.mode); err != nil {
			s.Close(0)
			return nil, err
		}
	}
	s.WithRules(permissions.User, e.rules...)
	if e.order.Len() >= maxWorkspaces {
		oldest := e.order.Back()
		gone := e.order.Remove(oldest).(*explainedIn)
		delete(e.open, gone.dir)
		gone.session.Close(0)
	}
	e.open[dir] = e.order.PushFront(&explainedIn{dir, s})
	return s, nil
}

// explain says what would become of a call. An error is about the line, not the call.
func (e *explainer) explain(ctx context.Context, call judgedCall) (explained, error) {
	if call.Tool == "" {
		return explained{}, errors.New(`it names no tool; give an object such as {"tool":"bash","args":{"cmd":"ls"}}`)
	}
	s, err := e.in(ctx, call.Cwd)
	if err != nil {
		return explained{}, err
	}
	input := string(call.Args)
	if input == "" || input == "null" {
		input = "{}"
	}
	return explanationOf(s, s.Explain(ctx, call.Tool, input)), nil
}

func explanationOf(s *session.Session, e pipeline.Explanation) explained {
	out := explained{
		Verdict: e.Action.String(), Layer: e.Layer, Reason: e.Reason, Part: e.Part, NoAlways: e.NoAlways,
		Always: []alwaysRule{}, Sandbox: "not needed", remember: e.Remember,
	}
	if e.Rule != nil {
		out.Rule = ruleOf(*e.Rule, e.Scope)
	}
	for _, dir := range e.Opens {
		out.Always = append(out.Always, alwaysRule{capability.CapFSRead, capability.EscapeGlob(filepath.ToSlash(dir)) + "/**"})
	}
	if e.Remember != "" {
		for _, rule := range e.Always {
			out.Always = append(out.Always, alwaysRule{rule.Permission, rule.Pattern})
		}
	}
	switch report, known := s.Sandbox(); {
	case e.ShowsMachine:
		out.Sandbox = string(sandbox.None)
	case e.Starts && known:
		out.Sandbox = string(report.Kind)
	case e.Starts:
		out.Sandbox = "not probed"
	}
	if e.Unasked {
		out.Watchdog = "not asked"
	}
	return out
}

// explainCommand answers /permissions explain.
func explainCommand(ctx context.Context, s *session.Session, what string) string {
	args, _ := json.Marshal(map[string]string{"cmd": what}) // a map of strings
	return kinds.Fence("", explanationOf(s, s.Explain(ctx, "bash", string(args))).text())
}

// unusable is the answer to a line that is not a call: a caller that reads nothing but the
// verdict must not take it for an allow.
func unusable(line int, err error) explained {
	return explained{
		Verdict: "deny", Layer: permissions.LayerSchema, Reason: err.Error(), Always: []alwaysRule{},
		Error: err.Error(), Line: line,
	}
}
