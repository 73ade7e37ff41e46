package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// The most conversations that find_thread returns, where the call does not say, and at all.
const (
	defaultThreads = 10
	maxThreads     = 50
)

//go:embed find_thread.md
var findThreadPrompt string

type findThreadArgs struct {
	Query string  `json:"query"`
	Limit float64 `json:"limit"`
}

type findThreadData struct {
	Threads []tools.Thread `json:"threads"`
}

// newFindThread is the tool that finds stored conversations of the session's directory (R99).
func newFindThread() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "find_thread",
		Description: prompt(findThreadPrompt),
		Kind:        kinds.Search,
		Label:       "Find conversations",
		Describe:    argumentTitle("Find conversations about", "query"),
		Default:     capability.AllowAlways,
		Parameters: object(
			text("query?", `Words that a message must hold, all of them; words in double quotes stand together.`),
			defaulted(number("limit?", fmt.Sprintf("Most conversations to return, at most %d.", maxThreads)), fmt.Sprint(defaultThreads)),
		),
		Profile:  &tools.Profile{},
		Lacks:    lacksThreads,
		ReadOnly: true,
	}, findThread)
}

// lacksThreads is the Lacks of the tools that read stored conversations.
func lacksThreads(s tools.Services) string {
	if s.Threads == nil {
		return "no conversation is stored"
	}
	return ""
}

func threadsOf(rt tools.Runtime) (tools.Threads, error) {
	if threads := rt.Services().Threads; threads != nil {
		return threads, nil
	}
	return nil, tools.Errorf(tools.Unavailable, "No conversation is stored.")
}

func findThread(ctx context.Context, rt tools.Runtime, a findThreadArgs) (*tools.Result, error) {
	threads, err := threadsOf(rt)
	if err != nil {
		return nil, err
	}
	limit := defaultThreads
	if a.Limit >= 1 {
		limit = int(min(a.Limit, maxThreads))
	}
	found, err := threads.Find(ctx, strings.TrimSpace(a.Query), limit)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return &tools.Result{
			Data: findThreadData{[]tools.Thread{}}, Text: "No earlier conversation of this directory was found.",
			Content: sentenceCard("No earlier conversation was found."),
		}, nil
	}
	var model, card strings.Builder
	for _, t := range found {
		title := kinds.Line(t.Title, askedRunes)
		fmt.Fprintf(&model, "%s %s (%s, %s)\n", t.ID, title, t.Updated.UTC().Format(time.DateTime), kinds.Count(t.Turns, "turn"))
		fmt.Fprintf(&card, "%s (%s)\n", title, t.Updated.UTC().Format(time.DateTime))
		for _, snippet := range t.Found {
			fmt.Fprintf(&model, "  %s\n", kinds.Line(snippet, foundRunes))
		}
	}
	return &tools.Result{Data: findThreadData{found}, Text: strings.TrimSuffix(model.String(), "\n"), Content: textCard(card.String())}, nil
}
