package pipeline

import (
	"context"
	"slices"

	"acp-agent/permissions"
	"acp-agent/tools"
)

// refuseUnattended refuses a command that rules allow when no user can be asked and no sandbox confines
// it, unless the user chose that in the configuration (R124). A command that only reads may run.
func (j *judgement) refuseUnattended(ctx context.Context) error {
	p := j.pipeline
	if p.Asker != nil || j.access.readsOnly {
		return nil
	}
	if !slices.ContainsFunc(j.judged.Resources, func(resource permissions.Resource) bool { return resource.Kind == permissions.Command }) {
		return nil
	}
	why := p.Session.WhyNotUnattended(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if why == "" {
		return nil
	}
	return &tools.Error{Kind: tools.Denied, DeniedBy: permissions.DeniedByHeadless, Message: why}
}
