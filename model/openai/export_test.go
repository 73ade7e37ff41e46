package openai

import "context"

// ErrNotLocal is what Report returns for servers that are not local.
var ErrNotLocal = errNotLocal

// Report is what Probe finds out, with its warnings.
func (p *Provider) Report(ctx context.Context, id string) (*localReport, error) {
	return p.askLocal(ctx, id)
}
