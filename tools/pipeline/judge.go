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
	"acp-agent/workspace"
)

// Tools that the judgement knows by name.
const (
	// shellTool is the tool whose rules are about commands.
	shellTool = "bash"
	// deleteTool is the tool whose rules apply to every deletion.
	deleteTool = "delete_file"
	// languageTool only reads, but starts programs that follow the project's configuration.
	languageTool = "lsp"
)

// judgement is the answer of the rules about a call, and what that answer depends on.
type judgement struct {
	*sharedState
	confinement *confinement
	access      *commandAccess
	files       commandFiles
	// dryRun says that the call is only explained: no question, no process.
	dryRun bool
	// judged is the call in the form that rules judge, decision their answer.
	judged   permissions.Call
	decision permissions.Decision
	// trusted says that the user trusts the project as it is.
	trusted bool
	// opens is what "always" would open of what the commands read outside.
	opens []workspace.Access
	// watchdogReason is why the watchdog wants a question; "" when it does not.
	watchdogReason string
}

func newJudgement(call *sharedState, confinement *confinement) *judgement {
	return &judgement{
		sharedState: call, confinement: confinement, access: &commandAccess{sharedState: call},
		files: commandFiles{call.pipeline.Workspace, call.pipeline.Own, call.pipeline.Home, call.ID, call.Tool},
	}
}

// judge decides anew whether the call may run: the command judge parses its commands, the rules decide about
// everything that the call touches, and the checks after them may turn an allow into a question, never
// the other way round. A denial is an error.
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
		return denial(j.decision)
	}
	if err := j.refuseInReadOnlyMode(); err != nil {
		return err
	}
	j.askAboutOutside()
	j.applyWatchdog()
	j.askAboutMissed(ctx)
	j.askAboutExposedFiles()
	j.offerOpening(ctx)
	return j.askAboutReading(ctx)
}

// askAboutOutside asks about a read outside the session's directories that no answer has opened.
func (j *judgement) askAboutOutside() {
	if j.decision.Action != capability.Allow || len(j.confinement.outside) == 0 || j.confinement.outsideOpened() {
		return
	}
	first := j.confinement.outside[0]
	j.decision.Action, j.decision.Layer, j.decision.Reason = capability.Ask, permissions.LayerCapability, outsideReason(first)
	j.decision.Part, j.decision.Rule = first.Real, nil
	if first.Dir == "" {
		j.decision.NoAlways = "its directory is not one that may be opened for good"
	}
}

// denial returns the error of a call that the rules, the mode or the lack of a user deny.
func denial(d permissions.Decision) error {
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

// trustMatters reports whether trust in the project can matter to the call. Session.ConfirmTrust takes
// longer than many reads.
func (j *judgement) trustMatters() bool {
	return !j.entry.ReadOnly || j.Tool == languageTool
}

// permissionCall returns the call in the form that rules judge, and stores in access what the command
// judge found.
func (j *judgement) permissionCall(ctx context.Context) permissions.Call {
	session := j.pipeline.Workspace.Session()
	call := j.pipeline.ruleCall(j.Prepared)
	commands, reading, machine := 0, 0, 0
	for _, resource := range j.touched {
		switch resource.Kind {
		case tools.Command:
			call.Text = resource.Value
			verdict := j.judgeCommand(resource, j.commandEnv(ctx, resource, session))
			j.access.addVerdict(verdict)
			if verdict.GitHubHere {
				j.access.gitHubDirs = append(j.access.gitHubDirs, resource.Dir)
			}
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

// commandEnv returns what the verdict on a command depends on in addition to its text.
func (j *judgement) commandEnv(ctx context.Context, resource tools.Resource, session tools.Session) command.Env {
	runner, report := j.pipeline.Workspace.Runner(), sync.OnceValue(func() sandbox.Report { return j.sandboxFor(ctx) })
	return command.Env{
		Cwd: resource.Dir, Roots: session.Roots, Home: j.pipeline.Home, Own: j.pipeline.Own,
		Inside: func(path string) (string, bool) {
			access, err := j.pipeline.Workspace.Check(path, false)
			// Real is set also for a path that the check refuses: a link to a secret counts as one.
			return cmp.Or(access.Real, j.pipeline.Workspace.Resolve(path)), err == nil && access.Inside && !access.Opened
		},
		Secret:      j.pipeline.Workspace.SecretName,
		HoldsSecret: j.files.holdsSecret, HoldsAddress: j.files.holdsAddress, GitHoldsAddress: j.files.gitHoldsAddress,
		Dialect: j.pipeline.Dialect, Encoding: j.pipeline.Encoding,
		// What a project configures is not run before the user trusts the project (T2).
		Untrusted:   !j.trusted,
		GitPrograms: j.files.gitPrograms, GitHoldsSecret: j.files.gitHoldsSecret,
		Regular: j.files.regular, Script: j.files.script, Waits: j.files.waits, List: j.files.list,
		GitNames:   func(dir string, words []string) ([]string, bool) { return j.files.gitNames(ctx, report(), dir, words) },
		GitHistory: func(dir string) ([]string, bool) { return j.files.gitHistory(ctx, report(), dir) },
		Reading:    func() bool { return report().Confines() },
		Shown:      func(path string) bool { return runner.ShownOutside(report(), path) },
		ByHost:     func() bool { return runner.MayUseProxy(report()) },
		Program:    runner.LookPath,
		Machine: func() bool {
			return runner.ShowsMachine(report()) && !j.pipeline.restricted && j.pipeline.readOnly() == nil
		},
	}
}

// sandboxFor reports what confines the call's commands; the zero report when that is not known. A dry run
// does not wait for the trial of the sandbox.
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
