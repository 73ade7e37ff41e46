package app

import (
	"context"
	"iter"

	"acp-agent/model"
)

// noModel is the model of a session that asks none, so that tools can be run and listed
// without a key.
type noModel struct{}

// errNoModel fails a subagent there. It is Invalid, so that nothing tries again.
var errNoModel = &model.Error{
	Kind: model.Invalid, Message: "a tool that is run by hand has no model", Hint: `acp-agent run "..." has one`,
}

// Stream implements model.Provider.
func (noModel) Stream(context.Context, *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) { yield(model.Chunk{}, errNoModel) }
}

// Models implements model.Provider.
func (noModel) Models(context.Context) ([]model.Info, error) { return nil, errNoModel }

// Probe implements model.Provider.
func (noModel) Probe(context.Context, string) ([]string, error) { return nil, nil }

// Describe implements model.Provider.
func (noModel) Describe(_ context.Context, id string) model.Info { return model.Info{ID: id} }
