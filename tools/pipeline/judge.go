package pipeline

import (
	"cmp"
	"context"

	"acp-agent/capability"
	"acp-agent/internal/network"
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
	r.trusted = r.trustMatters() && r.pipeline.Session.ConfirmTrust()
	r.reach = reach{approved: r.reach.approved}
	r.judged = r.permissionCall()
	r.decision = r.pipeline.Policy.Rules().Decide(r.judged)
	if r.decision.Action == capability.Deny {
		return r.refused(r.decision)
	}
	if err := r.refuseInReadOnlyMode(); err != nil {
		return err
	}
	if r.decision.Action == capability.Allow && len(r.outside) > 0 && !r.granted() {
		r.decision.Action, r.decision.Layer = capability.Ask, permissions.LayerCapability
		r.decision.Reason = outsideReason(r.outside[0])
		r.decision.Part, r.decision.Rule = r.outside[0].Real, nil
		if r.outside[0].Dir == "" {
			r.decision.NoAlways = "its directory is not one that may be opened for good"
		}
	}
	r.heedWatchdog()
	r.askForMissed(ctx)
	r.askAboutNames()
	return r.askAboutReading(ctx)
}

// languageTool reads and yet starts programs that heed the project's configuration.
const languageTool = "lsp"

// trustMatters reports whether trust in the project can matter to the call. Looking takes
// longer than many a read.
func (r *running) trustMatters() bool {
	return !r.entry.ReadOnly || r.Tool == languageTool
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
		Tool: c.Tool, Capabilities: capabilities(c.entry.Requires), Home: p.Home, Own: p.Own, Secret: p.Workspace.SecretName,
		Vars: capability.Vars{
			capability.VarWorkspace: session.Roots,
			permissions.VarScratch:  {session.Scratch},
			// Defined even when it is empty, because the shipped rules name it.
			permissions.VarGrantedHosts: p.Session.Hosts(),
		},
	}
	for _, alias := range c.entry.Aliases {
		call.Aliases = append(call.Aliases, alias.Name)
	}
	p.identify(&call, c)
	return call
}

// Denies reports whether rules deny the calls of a tool whatever they touch. A tool that is
// not there has no more than its id for them.
func (p *Pipeline) Denies(id string) bool {
	call := permissions.Call{Tool: id}
	if entry, there := p.Tools().Get(id); there {
		call = p.ruleCall(&Prepared{Tool: entry.ID, entry: entry})
	}
	return p.Policy.Rules().Decide(call).Action == capability.Deny
}

// MayRead reports whether nothing stands against reading a file for the user: it lies inside the
// session's directories, and the rules let the tool that reads files read it without a question.
// A watchdog sees calls alone, so that with one the answer is no.
func (p *Pipeline) MayRead(path string) bool {
	entry, there := p.Tools().Get(readTool)
	access, err := p.Workspace.Check(path, false)
	if !there || err != nil || !access.Inside || p.Watchdog != nil {
		return false
	}
	call := p.ruleCall(&Prepared{Tool: entry.ID, entry: entry})
	call.Resources = []permissions.Resource{{
		Kind: permissions.Path, Name: access.Real, Requested: []string{access.Path}, Capability: capability.CapFSRead,
	}}
	return p.Policy.Rules().Decide(call).Action == capability.Allow
}

// readTool is the tool that reads files.
const readTool = "read"

func (r *running) permissionCall() permissions.Call {
	session := r.pipeline.Workspace.Session()
	call := r.pipeline.ruleCall(r.Prepared)
	commands, reading := 0, 0
	r.texts, r.settings = nil, nil
	for _, resource := range r.touched {
		switch resource.Kind {
		case tools.Command:
			call.Text = resource.Value
			verdict := r.judgeCommand(resource, session)
			r.reach.note(verdict)
			r.bindText(resource, verdict)
			commands++
			if verdict.Action == capability.Allow {
				reading++
			}
			call.Resources = append(call.Resources, verdict.Resources()...)
		case tools.Host:
			if resource.Value != "" {
				call.Resources = append(call.Resources, hostResource(resource.Value))
			}
		case tools.Executable:
			call.Resources = append(call.Resources, permissions.Resource{Kind: permissions.Program, Name: resource.Value})
		default:
			call.Resources = append(call.Resources, r.pathResource(resource))
		}
	}
	r.readsOnly = commands > 0 && reading == commands
	return call
}

// hostResource is a host under the name that it is asked by and, for what denies or asks,
// the one that people read.
func hostResource(name string) permissions.Resource {
	host := permissions.Resource{Kind: permissions.Host, Name: name}
	if readable := network.Readable(name); readable != name {
		host.Requested = []string{readable}
	}
	return host
}

// shellTool is the tool whose rules speak of commands.
const shellTool = "bash"

// deleteTool is the tool whose rules hold for every deletion.
const deleteTool = "delete_file"

func (r *running) pathResource(resource tools.Resource) permissions.Resource {
	path := permissions.Resource{
		Kind: permissions.Path, Name: r.targets.of(r.env, resource).Real, Requested: []string{r.env.Abs(resource.Value)},
	}
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
	return judgeText(resource.Value, r.commandEnv(resource, session))
}

// commandEnv is what the judgement of a command depends on besides its text.
func (r *running) commandEnv(resource tools.Resource, session tools.Session) command.Env {
	return command.Env{
		Cwd: resource.Dir, Roots: session.Roots, Home: r.pipeline.Home, Own: r.pipeline.Own,
		Inside: func(path string) (string, bool) {
			access, err := r.pipeline.Workspace.Check(path, false)
			// Also of what the check refuses: a link to a secret is one.
			return cmp.Or(access.Real, r.pipeline.Workspace.Resolve(path)), err == nil && access.Inside
		},
		Secret:      r.pipeline.Workspace.SecretName,
		HoldsSecret: r.holdsSecret, HoldsAddress: r.holdsAddress, GitHoldsAddress: r.gitHoldsAddress,
		Dialect: r.pipeline.Dialect,
		// Nothing that a project configures is run to probe it before it is trusted (T2).
		Untrusted:   !r.trusted,
		GitPrograms: r.gitPrograms, GitHoldsSecret: r.gitHoldsSecret,
		Regular: r.regular, Waits: r.waits, List: r.list,
	}
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

// waits reports whether a path leads to a pipe, a socket, a device or a file of the kernel.
func (r *running) waits(path string) bool {
	access, _ := r.pipeline.Workspace.Check(path, false) // which refuses such a path
	return access.Waits
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
