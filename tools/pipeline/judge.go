package pipeline

import (
	"cmp"
	"context"
	"sync"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
	"acp-agent/sandbox"
	"acp-agent/tools"
)

// judgement is what the rules say of a call.
type judgement struct {
	*sharedState
	confinement *confinement
	access      *commandAccess
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

func newJudgement(call *sharedState, confinement *confinement) *judgement {
	return &judgement{
		sharedState: call, confinement: confinement, access: &commandAccess{sharedState: call},
		files: commandFiles{call.pipeline.Workspace, call.pipeline.Own, call.pipeline.Home, call.ID, call.Tool},
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
	if !j.dryRun && len(j.commands()) > 0 {
		j.pipeline.Workspace.Runner().Warm()
	}
	j.trusted = j.trustMatters() && j.pipeline.Session.ConfirmTrust()
	j.access.reset()
	j.judged = j.permissionCall(ctx)
	j.decision = j.pipeline.Policy.Rules().Decide(j.judged)
	if j.decision.Action == capability.Deny {
		return j.denial(j.decision)
	}
	if err := j.refuseInReadOnlyMode(); err != nil {
		return err
	}
	if j.decision.Action == capability.Allow && len(j.confinement.outside) > 0 && !j.confinement.outsideOpened() {
		j.decision.Action, j.decision.Layer = capability.Ask, permissions.LayerCapability
		j.decision.Reason = outsideReason(j.confinement.outside[0])
		j.decision.Part, j.decision.Rule = j.confinement.outside[0].Real, nil
		if j.confinement.outside[0].Dir == "" {
			j.decision.NoAlways = "its directory is not one that may be opened for good"
		}
	}
	j.applyWatchdog()
	j.askAboutMissed(ctx)
	j.askAboutExposedFiles()
	return j.askAboutReading(ctx)
}

// denial returns the error of a call that the rules, the mode or the lack of a user deny.
func (j *judgement) denial(d permissions.Decision) error {
	by := d.DeniedBy
	if by == permissions.DeniedByRule {
		by = "rule:" + d.Scope.String()
	}
	denied := &tools.Error{Kind: tools.Denied, DeniedBy: by, Message: d.Reason}
	if by == permissions.DeniedBySecret {
		denied.Code = tools.CodeSecretFile
	}
	return denied
}

// languageTool reads and yet starts programs that heed the project's configuration.
const languageTool = "lsp"

// trustMatters reports whether trust in the project can matter to the call. Looking takes
// longer than many a read.
func (j *judgement) trustMatters() bool {
	return !j.entry.ReadOnly || j.Tool == languageTool
}

func (j *judgement) permissionCall(ctx context.Context) permissions.Call {
	session := j.pipeline.Workspace.Session()
	call := j.pipeline.ruleCall(j.Prepared)
	commands, reading, machine := 0, 0, 0
	j.access.texts, j.access.settings = nil, nil
	for _, resource := range j.touched {
		switch resource.Kind {
		case tools.Command:
			call.Text = resource.Value
			verdict := j.judgeCommand(ctx, resource, session)
			j.access.addVerdict(verdict)
			j.access.addText(resource, verdict)
			commands++
			if verdict.Action == capability.Allow {
				reading++
			}
			if verdict.Machine {
				machine++
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
	j.access.readsOnly = commands > 0 && reading == commands
	j.access.machineOnly = machine > 0 && machine == commands
	return call
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
	runner, report := j.pipeline.Workspace.Runner(), sync.OnceValue(func() sandbox.Report { return j.sandboxFor(ctx) })
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
		GitNames: func(dir string, words []string) ([]string, bool) { return j.files.gitNames(ctx, report(), dir, words) },
		Reading:  func() bool { return report().Confines() },
		Shown:    func(path string) bool { return runner.ShownOutside(report(), path) },
		ByHost:   func() bool { return runner.MayConnect(report()) },
		Program:  runner.LookPath,
		Machine: func() bool {
			return runner.ShowsMachine(report()) && !j.pipeline.restricted && j.pipeline.readOnly() == nil
		},
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
