package builtin

import (
	"context"
	_ "embed"
	"strings"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed read_thread.md
var readThreadPrompt string

type readThreadArgs struct {
	ID string `json:"id"`
}

// newReadThread is the tool that reads one of them (R99).
func newReadThread() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "read_thread",
		Description: prompt(readThreadPrompt),
		Kind:        kinds.Read,
		Label:       "Read conversation",
		Describe:    argumentTitle("Read conversation", "id"),
		Default:     capability.AllowAlways,
		Parameters:  object(text("id", "The id of the conversation.")),
		Profile:     &tools.Profile{},
		Lacks:       lacksThreads,
		ReadOnly:    true,
	}, readThread)
}

func readThread(ctx context.Context, rt tools.Runtime, a readThreadArgs) (*tools.Result, error) {
	threads, err := threadsOf(rt)
	if err != nil {
		return nil, err
	}
	thread, read, err := threads.Read(ctx, strings.TrimSpace(a.ID))
	if err != nil {
		return nil, err
	}
	return &tools.Result{Data: thread, Text: read, Content: textCard(kinds.Line(thread.Title, askedRunes))}, nil
}
