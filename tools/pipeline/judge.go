package pipeline

import (
	"cmp"
	"context"
	"sync"

	"acp-agent/capability"
	"acp-agent/internal/network"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
	"acp-agent/sandbox"
	"acp-agent/tools"
)

// judgement is what the rules say of a call.
type judgement struct {
	*underway
	confinement *confinement
	reach       *reach
	files       commandFiles
	// dryRun says that the call is only explained: nothing is asked or started for it.
	dryRun bool
	// judged is the call as rules see it, decision their answer.
	judged   permissions.Call
	decision permissions.Decision
	// trusted says that the user trusts the project as it is.
	trusted bool
	// watchdogReason is why the watchdog wants the user asked; "" when it does not.
	watchdogReason string
}

func newJudgement(call *underway, confinement *confinement) *judgement {
	return &judgement{
		underway: call, confinement: confinement, reach: &reach{underway: call},
		files: commandFiles{call.pipeline.Workspace, call.pipeline.Own, call.ID, call.Tool},
	}
}

// judge asks the rules about everything the call touches; commands are first
// taken apart by the command judge. A denial ends the call here.
func (j *judgement) judge(ctx context.Context) error {
	_, span := j.pipeline.Tracer.Permission(ctx, j.Tool)
	defer func() {
		span.Verdict(j.decision.Action.String())
		span.End(nil)
	}()
	j.trusted = j.trustMatters() && j.pipeline.Session.ConfirmTrust()
	j.reach.reset()
	j.judged = j.permissionCall(ctx)
	j.decision = j.pipeline.Policy.Rules().Decide(j.judged)
	if j.decision.Action == capability.Deny {
		return j.refused(j.decision)
	}
	if err := j.refuseInReadOnlyMode(); err != nil {
		return err
	}
	if j.decision.Action == capability.Allow && len(j.confinement.outside) > 0 && !j.confinement.granted() {
		j.decision.Action, j.decision.Layer = capability.Ask, permissions.LayerCapability
		j.decision.Reason = outsideReason(j.confinement.outside[0])
		j.decision.Part, j.decision.Rule = j.confinement.outside[0].Real, nil
		if j.confinement.outside[0].Dir == "" {
			j.decision.NoAlways = "its directory is not one that may be opened for good"
		}
	}
	j.heedWatchdog()
	j.askForMissed(ctx)
	j.askAboutNames()
	return j.askAboutReading(ctx)
}

// languageTool reads and yet starts programs that heed the project's configuration.
const languageTool = "lsp"

// trustMatters reports whether trust in the project can matter to the call. Looking takes
// longer than many a read.
func (j *judgement) trustMatters() bool {
	return !j.entry.ReadOnly || j.Tool == languageTool
}

// granted reports whether an answer has opened every outside path since the
// capability check.
func (c *confinement) granted() bool {
	for _, access := range c.outside {
		again, err := c.pipeline.Workspace.Check(access.Path, false)
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

func (j *judgement) permissionCall(ctx context.Context) permissions.Call {
	session := j.pipeline.Workspace.Session()
	call := j.pipeline.ruleCall(j.Prepared)
	commands, reading := 0, 0
	j.reach.texts, j.reach.settings = nil, nil
	for _, resource := range j.touched {
		switch resource.Kind {
		case tools.Command:
			call.Text = resource.Value
			verdict := j.judgeCommand(ctx, resource, session)
			j.reach.note(verdict)
			j.reach.bindText(resource, verdict)
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
			call.Resources = append(call.Resources, j.pathResource(resource))
		}
	}
	j.reach.readsOnly = commands > 0 && reading == commands
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

func (j *judgement) pathResource(resource tools.Resource) permissions.Resource {
	path := permissions.Resource{
		Kind: permissions.Path, Name: j.targets.of(j.env, resource).Real, Requested: []string{j.env.Abs(resource.Value)},
	}
	if resource.Kind == tools.PathRead {
		path.Capability = capability.CapFSRead
	} else {
		path.Capability = capability.CapFSWrite
	}
	if resource.Deletes && j.Tool != deleteTool {
		path.Also = []string{deleteTool}
	}
	return path
}

func (j *judgement) judgeCommand(ctx context.Context, resource tools.Resource, session tools.Session) command.Verdict {
	return judgeText(resource.Value, j.commandEnv(ctx, resource, session))
}

// commandEnv is what the judgement of a command depends on besides its text.
func (j *judgement) commandEnv(ctx context.Context, resource tools.Resource, session tools.Session) command.Env {
	runner, found := j.pipeline.Workspace.Runner(), sync.OnceValue(func() sandbox.Report { return j.sandboxFor(ctx) })
	return command.Env{
		Cwd: resource.Dir, Roots: session.Roots, Home: j.pipeline.Home, Own: j.pipeline.Own,
		Inside: func(path string) (string, bool) {
			access, err := j.pipeline.Workspace.Check(path, false)
			// Also of what the check refuses: a link to a secret is one.
			return cmp.Or(access.Real, j.pipeline.Workspace.Resolve(path)), err == nil && access.Inside
		},
		Secret:      j.pipeline.Workspace.SecretName,
		HoldsSecret: j.files.holdsSecret, HoldsAddress: j.files.holdsAddress, GitHoldsAddress: j.files.gitHoldsAddress,
		Dialect: j.pipeline.Dialect,
		// Nothing that a project configures is run to probe it before it is trusted (T2).
		Untrusted:   !j.trusted,
		GitPrograms: j.files.gitPrograms, GitHoldsSecret: j.files.gitHoldsSecret,
		Regular: j.files.regular, Waits: j.files.waits, List: j.files.list,
		GitNames: func(dir string, words []string) ([]string, bool) { return j.files.gitNames(ctx, found(), dir, words) },
		Reading:  func() bool { return found().Confines() },
		Shown:    func(path string) bool { return runner.ShownOutside(found(), path) },
		ByHost:   func() bool { return runner.MayConnect(found()) },
	}
}

// sandboxFor is what confines the call's commands; the zero report where that is not known. An
// explanation does not wait for a trial.
func (j *judgement) sandboxFor(ctx context.Context) sandbox.Report {
	if j.dryRun {
		report, _ := j.pipeline.Workspace.Runner().SandboxExpected()
		return report
	}
	report, _, err := j.pipeline.Workspace.Runner().Sandbox(ctx)
	if err != nil {
		return sandbox.Report{Kind: sandbox.None}
	}
	return report
}

// regular reports whether a path is an existing file inside the session's
// directories, links followed.
func (f commandFiles) regular(path string) bool {
	access, err := f.work.Check(path, false)
	if err != nil || !access.Inside {
		return false
	}
	runtime := f.work.Call(f.call+"/judge", f.tool, nil)
	defer runtime.Finish()
	info, err := runtime.FS().Stat(context.Background(), path)
	return err == nil && info.Mode.IsRegular()
}

// waits reports whether a path leads to a pipe, a socket, a device or a file of the kernel.
func (f commandFiles) waits(path string) bool {
	access, _ := f.work.Check(path, false) // which refuses such a path
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
