package session

import (
	"context"
	"errors"
	"fmt"

	"acp-agent/compaction"
	"acp-agent/kinds"
	"acp-agent/subagent"
	"acp-agent/transcript"
)

// writers are the models that can sum up a conversation of the session, the first choice first: the
// model of the internal agent where it has one, then own, the model of the conversation. charge is
// called with the usage of each model call.
func (a *assembler) writers(backend Backend, own string, charge func(string, *transcript.Usage)) []compaction.Writer {
	m, ok := a.agents.manifests().Get(compactionAgent)
	if !ok {
		return nil
	}
	ids := []string{own}
	if m.Model != "" && m.Model != own {
		ids = []string{m.Model, own}
	}
	list := make([]compaction.Writer, len(ids))
	for i, id := range ids {
		list[i] = compaction.Writer{
			Model: id, Window: backend.Provider.Describe(a.life.ctx, id).Window,
			Write: func(ctx context.Context, text string) (string, error) {
				return a.askInternalAgent(ctx, m, id, text, charge)
			},
		}
	}
	return list
}

// compactCommand is /compact; words name what the summary has to keep.
func compactCommand(ctx context.Context, a *assembler, words string) string {
	log := a.conversation.log
	if len(log.OpenCalls()) > 0 {
		return "Nothing was compacted: a question waits for your answer.\n"
	}
	backend, err := a.host.Backend()
	if err != nil {
		return "Nothing was compacted: " + kinds.Visible(err.Error()) + ".\n"
	}
	a.choices.models.setServer(backend)
	before, after, err := a.loop(ctx, backend, a.choices.get()).Compact(ctx, words)
	switch {
	case errors.Is(err, compaction.ErrNothing):
		return "There is nothing to compact yet.\n"
	case err != nil:
		return "Nothing was compacted: " + kinds.Visible(err.Error()) + ".\n"
	}
	return fmt.Sprintf("The model goes on with a summary of about %d tokens in place of %d. The conversation itself stays as it is.\n", after, before)
}

// chargeChild counts the model calls of an internal agent with the subagent for which it works.
func chargeChild(n *subagent.Node) func(string, *transcript.Usage) {
	return func(model string, usage *transcript.Usage) {
		if usage != nil {
			n.Charge(model, *usage)
		}
	}
}
