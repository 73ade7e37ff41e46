package pipeline

import (
	"context"
	"slices"

	"acp-agent/capability"
	"acp-agent/internal/pathname"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
	"acp-agent/tools"
	"acp-agent/workspace"
)

// judgeCommand judges a command. A directory that an answer has opened counts as one of the session's if
// the command does nothing but read then: to others it is as much outside as before.
func (j *judgement) judgeCommand(resource tools.Resource, env command.Env) command.Verdict {
	v := judgeText(resource.Value, env)
	if v.Action != capability.Ask || !j.pipeline.Workspace.Opened() {
		return v
	}
	opened := judgeText(resource.Value, withOpened(env, func(path string) bool {
		access, err := j.pipeline.Workspace.Check(path, false)
		return err == nil && access.Opened
	}))
	if opened.Action != capability.Allow {
		return v
	}
	return opened
}

// withOpened returns an environment to which paths are inside that are opened.
func withOpened(env command.Env, opened func(path string) bool) command.Env {
	inside := env.Inside
	env.Inside = func(path string) (string, bool) {
		resolved, ok := inside(path)
		return resolved, ok || opened(path)
	}
	return env
}

// offerOpening offers "always" for commands that are asked about only because they read outside the session's
// directories: it opens the directories around what they read, as it does for a call that reads a file
// there. Whether that is the only reason is judged as it will be then.
func (j *judgement) offerOpening(ctx context.Context) {
	j.opens = nil
	if j.decision.Action != capability.Ask || j.decision.Layer != permissions.LayerPolicy || j.decision.NoAlways == "" || j.watchdogReason != "" ||
		len(j.commands()) == 0 || len(j.commands()) != len(j.touched) {
		return
	}
	opens, ok := j.readsOutside()
	if !ok {
		return
	}
	call := j.pipeline.ruleCall(j.Prepared)
	for _, resource := range j.touched {
		env := withOpened(j.commandEnv(ctx, resource, j.pipeline.Workspace.Session()), func(path string) bool {
			access, err := j.pipeline.Workspace.Check(path, false)
			return err == nil && (access.Opened || slices.ContainsFunc(opens, func(open workspace.Access) bool { return pathname.Contains(open.Dir, access.Real) }))
		})
		// What only git can tell is not looked up in a directory that the user has not opened.
		env.GitNames, env.GitHistory, env.GitPrograms, env.GitHoldsAddress = nil, nil, nil, nil
		v := judgeText(resource.Value, env)
		if v.Action != capability.Allow {
			return
		}
		call.Resources = append(call.Resources, v.Resources()...)
	}
	if j.pipeline.Policy.Rules().Decide(call).Action == capability.Allow {
		j.opens, j.decision.NoAlways = opens, ""
	}
}

// readsOutside returns what the commands read outside the session's directories, each directory once; ok is
// false where there is nothing, or something in a directory that may not be opened.
func (j *judgement) readsOutside() (outside []workspace.Access, ok bool) {
	for _, path := range j.access.reads {
		access, err := j.pipeline.Workspace.Check(path, false)
		switch {
		case err == nil && access.Inside:
		case err != nil || access.Dir == "":
			return nil, false
		case !slices.ContainsFunc(outside, func(other workspace.Access) bool { return other.Dir == access.Dir }):
			outside = append(outside, access)
		}
	}
	return outside, len(outside) > 0
}

// openReads opens what [judgement.offerOpening] offered.
func (j *judgement) openReads() {
	for _, access := range j.opens {
		j.pipeline.Workspace.Grant(j.ID, access, true)
	}
}
