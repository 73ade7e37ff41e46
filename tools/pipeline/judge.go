package pipeline

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
	"acp-agent/tools"
)

// judge asks the rules about everything the call touches; commands are first
// taken apart by the command judge. A denial ends the call here.
func (r *running) judge(ctx context.Context) error {
	_, span := r.pipeline.Tracer.Permission(ctx, r.Tool)
	defer func() {
		span.Verdict(r.decision.Action.String())
		span.End(nil)
	}()
	r.reach = reaches{approved: r.reach.approved}
	r.judged = r.permissionCall()
	r.decision = r.pipeline.Policy.Rules().Decide(r.judged)
	if r.decision.Action == capability.Deny {
		return r.refused(r.decision)
	}
	switch {
	case r.decision.Action != capability.Allow:
	case len(r.outside) > 0 && !r.granted():
		r.decision.Action = capability.Ask
		r.decision.Reason = fmt.Sprintf("%s is outside the session's directories", r.outside[0].Path)
	case r.insist != "":
		r.decision.Action, r.decision.Reason = capability.Ask, r.insist
	}
	r.wantNetwork()
	return nil
}

// granted reports whether an answer has opened every outside path since the
// capability check.
func (r *running) granted() bool {
	for _, access := range r.outside {
		again, err := r.pipeline.Workspace.Check(access.Path, false)
		if err != nil || !again.Inside {
			return false
		}
	}
	return true
}

// ruleCall is a call as rules see it, without what it touches.
func (p *Pipeline) ruleCall(c *Prepared) permissions.Call {
	session := p.Workspace.Session()
	call := permissions.Call{
		Tool: c.Tool, Capabilities: capabilities(c.entry.Requires), Home: p.Home, Own: p.Own,
		Vars: capability.Vars{
			capability.VarWorkspace: session.Roots,
			permissions.VarScratch:  {session.Scratch},
			// Defined even when it is empty, for the shipped rules name it.
			permissions.VarGrantedHosts: nil,
		},
	}
	if p.Hosts != nil {
		call.Vars[permissions.VarGrantedHosts] = p.Hosts()
	}
	for _, alias := range c.entry.Aliases {
		call.Aliases = append(call.Aliases, alias.Name)
	}
	return call
}

func (r *running) permissionCall() permissions.Call {
	session := r.pipeline.Workspace.Session()
	call := r.pipeline.ruleCall(r.Prepared)
	commands, reading := 0, 0
	for _, resource := range r.resources() {
		switch resource.Kind {
		case tools.Command:
			call.Text = resource.Value
			verdict := r.judgeCommand(resource, session)
			r.reach.note(verdict)
			commands++
			if verdict.Action == capability.Allow {
				reading++
			}
			call.Resources = append(call.Resources, verdict.Resources()...)
		case tools.Host:
			call.Resources = append(call.Resources, permissions.Resource{Kind: permissions.Host, Name: resource.Value})
		case tools.Executable:
			call.Resources = append(call.Resources, permissions.Resource{Kind: permissions.Program, Name: resource.Value})
		default:
			call.Resources = append(call.Resources, r.pathResource(resource))
		}
	}
	r.readsOnly = commands > 0 && reading == commands
	return call
}

// deleteTool is the tool whose rules hold for every deletion.
const deleteTool = "delete_file"

func (r *running) pathResource(resource tools.Resource) permissions.Resource {
	requested := r.env.Abs(resource.Value)
	real := r.env.Resolve(requested)
	if resource.NoFollow {
		real = filepath.Join(r.env.Resolve(filepath.Dir(requested)), filepath.Base(requested))
	}
	path := permissions.Resource{Kind: permissions.Path, Name: real, Requested: []string{requested}}
	if resource.Kind == tools.PathRead {
		path.Capability = capability.CapFSRead
	} else {
		path.Capability = capability.CapFSWrite
	}
	if resource.Deletes && r.Tool != deleteTool {
		path.Also = []string{deleteTool}
	}
	return path
}

func (r *running) judgeCommand(resource tools.Resource, session tools.Session) command.Verdict {
	return command.Judge(resource.Value, command.Env{
		Cwd: resource.Dir, Roots: session.Roots, Home: r.pipeline.Home, Own: r.pipeline.Own,
		Inside: func(path string) (string, bool) {
			access, err := r.pipeline.Workspace.Check(path, false)
			return access.Real, err == nil && access.Inside
		},
		Dialect: r.pipeline.Dialect,
		// No project is trusted yet, so nothing it configures is run to probe it (T2).
		Untrusted:   true,
		GitPrograms: r.gitPrograms,
		Regular:     r.regular,
	})
}

// regular reports whether a path is an existing file inside the session's
// directories, links followed.
func (r *running) regular(path string) bool {
	access, err := r.pipeline.Workspace.Check(path, false)
	if err != nil || !access.Inside {
		return false
	}
	runtime := r.pipeline.Workspace.Call(r.ID+"/judge", r.Tool, nil)
	defer runtime.Finish()
	info, err := runtime.FS().Stat(context.Background(), path)
	return err == nil && info.Mode.IsRegular()
}

// capabilities names what a requirement set needs, as rules name it.
func capabilities(set capability.RequirementSet) []string {
	var names []string
	if len(set.FS.Read) > 0 {
		names = append(names, capability.CapFSRead)
	}
	if len(set.FS.Write) > 0 {
		names = append(names, capability.CapFSWrite)
	}
	if len(set.Shell) > 0 {
		names = append(names, capability.CapShellRun)
	}
	if !set.Net.IsZero() {
		names = append(names, capability.CapNetFetch)
	}
	return append(names, set.Capabilities...)
}

// watch asks the watchdog, which can only narrow what the rules answered
// (R121). Whatever goes wrong in it is a denial (E4).
func (r *running) watch(ctx context.Context) (err error) {
	if r.pipeline.Watchdog == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			r.pipeline.Logger.Error("watchdog panicked", "tool", r.Tool, "stack", string(debug.Stack()))
			err = &tools.Error{
				Kind: tools.Denied, DeniedBy: tools.DeniedByWatchdog, Message: "the watchdog failed, so the call was not run",
			}
		}
	}()
	verdict, err := r.pipeline.Watchdog.Judge(ctx, WatchedCall{
		SessionID: r.pipeline.Workspace.Session().ID, CallID: r.ID, Tool: r.Tool, Args: r.Args,
	})
	switch {
	case err != nil:
		return &tools.Error{
			Kind: tools.Denied, DeniedBy: tools.DeniedByWatchdog, Err: err,
			Message: "the watchdog failed, so the call was not run: " + err.Error(),
		}
	case verdict.Action == capability.Deny:
		return &tools.Error{Kind: tools.Denied, DeniedBy: tools.DeniedByWatchdog, Message: verdict.Reason}
	case verdict.Action == capability.Ask:
		r.insist = verdict.Reason
		return r.judge(ctx)
	}
	return nil
}
