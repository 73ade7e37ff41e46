package pipeline

import (
	"context"

	"acp-agent/internal/egress"
	"acp-agent/permissions"
)

// JudgeConnection is what the rules say of a connection of a prepared call's commands.
func JudgeConnection(ctx context.Context, p *Pipeline, call *Prepared, to egress.Destination) (permissions.Decision, error) {
	c := &connections{sharedState: &sharedState{Prepared: call, pipeline: p}}
	return c.judgeConnection(ctx, to)
}
