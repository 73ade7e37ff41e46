package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"acp-agent/acp/schema"
	"acp-agent/internal/pause"
)

// ask puts a permission request to the user at the keyboard. The end of the
// input is a no.
func (v *demoView) ask(ctx context.Context, req schema.RequestPermissionRequest) schema.RequestPermissionOutcome {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.endText()
	call := v.calls[req.ToolCall.ToolCallID]
	if req.ToolCall.Title != nil {
		call.Title = *req.ToolCall.Title
	}
	v.margin = v.marginOf(req.ToolCall.ToolCallID)
	v.line("%s %s", v.screen.style(styleYellow, "?"), v.screen.style(styleBold, "May I: "+v.label(call)))
	for _, content := range req.ToolCall.Content {
		if diff, ok := content.(schema.Diff); ok {
			v.diff(diff)
			v.diffed[req.ToolCall.ToolCallID] = true
		}
	}
	keys := map[string]schema.PermissionOptionId{}
	var choices []string
	for _, option := range req.Options {
		key := map[schema.PermissionOptionKind]string{
			schema.PermissionOptionKindAllowOnce: "y", schema.PermissionOptionKindAllowAlways: "a",
			schema.PermissionOptionKindRejectOnce: "n", schema.PermissionOptionKindRejectAlways: "x",
		}[option.Kind]
		if keys[key] != "" {
			key = "p" // the same for the project
		}
		keys[key] = option.OptionID
		choices = append(choices, fmt.Sprintf("[%s] %s", key, option.Name))
	}
	return v.choose(ctx, fmt.Sprintf(v.margin+"  %s ", strings.Join(choices, "  ")), keys)
}

// demoPause lets a user see that something is being asked.
const demoPause = 600 * time.Millisecond

func (v *demoView) choose(ctx context.Context, question string, keys map[string]schema.PermissionOptionId) schema.RequestPermissionOutcome {
	if v.yes {
		fmt.Fprint(v.out, question)
		_ = pause.For(ctx, demoPause) // a demo that ends answers all the same
		fmt.Fprintf(v.out, "%s\n", v.screen.style(styleGreen, "y"))
		return schema.SelectedPermissionOutcome{OptionID: keys["y"]}
	}
	for {
		line, err := v.in.ask(ctx, func() { fmt.Fprint(v.out, question) })
		if id, ok := keys[strings.ToLower(strings.TrimSpace(line))]; ok {
			return schema.SelectedPermissionOutcome{OptionID: id}
		}
		if err != nil {
			fmt.Fprintln(v.out)
			return schema.SelectedPermissionOutcome{OptionID: keys["n"]}
		}
		question = "  please answer with one of the letters: "
	}
}
