package pipeline

import (
	"context"
	"slices"

	"acp-agent/permissions"
	"acp-agent/tools"
)

// unattended refuses a command that rules allow where no one is asked and nothing
// confines it, unless a user chose that (R124). What plainly only reads may run.
func (j *judgement) unattended(ctx context.Context) error {
	p := j.pipeline
	if p.Asker != nil || j.access.readsOnly {
		return nil
	}
	if !slices.ContainsFunc(j.judged.Resources, func(resource permissions.Resource) bool { return resource.Kind == permissions.Command }) {
		return nil
	}
	why := p.Session.Unconfined(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if why == "" {
		return nil
	}
	return &tools.Error{Kind: tools.Denied, DeniedBy: permissions.DeniedByHeadless, Message: why}
}
