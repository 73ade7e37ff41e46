package pipeline

import (
	"context"

	"acp-agent/internal/egress"
	"acp-agent/permissions"
)

// JudgeLogin is what the rules say of a login that git in a prepared call's commands asks for.
func JudgeLogin(ctx context.Context, p *Pipeline, call *Prepared, want egress.Login) (permissions.Decision, error) {
	c := &connections{sharedState: &sharedState{Prepared: call, pipeline: p}}
	return c.judgeLogin(ctx, storedLogin{want, "git", permissions.GitLoginTool, ""})
}

// UserIsKey reports whether the name of a login is a secret.
var UserIsKey = userIsKey

// JudgeConnection is what the rules say of a connection of a prepared call's commands.
func JudgeConnection(ctx context.Context, p *Pipeline, call *Prepared, to egress.Destination) (permissions.Decision, error) {
	c := &connections{sharedState: &sharedState{Prepared: call, pipeline: p}}
	return c.judgeConnection(ctx, to)
}

// Regular is what the command judge is told of a path.
func Regular(p *Pipeline, path string) bool {
	return commandFiles{work: p.Workspace, call: "call", tool: shellTool}.regular(path)
}

// Parses is how often the arguments of a call have been parsed, see tools.Args.Parses.
func (p *Prepared) Parses() int { return p.args.Parses() }
