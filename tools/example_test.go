package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

type shoutArgs struct {
	Text string `json:"text" jsonschema:"what to say"`
}

// shout is a whole tool: what registry, pipeline and loop know of it, and one function.
func shout() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "shout",
		Description: "Returns a text in capitals.",
		Aliases:     []tools.Alias{{Name: "Yell", Renames: map[string]string{"message": "text"}}},
		ReadOnly:    true,
	}, func(_ context.Context, _ tools.Runtime, a shoutArgs) (*tools.Result, error) {
		if a.Text == "" {
			return nil, tools.Errorf(tools.BadInput, "shout: the text is empty")
		}
		return tools.Output(strings.ToUpper(a.Text)), nil
	})
}

// A tool is defined once; its schema follows from the struct of its arguments.
func ExampleDefine() {
	rt := tooltest.New(tooltest.Options{})
	result, err := rt.Run(context.Background(), shout(), "shout", `{"text": "hello"}`)
	fmt.Println(result.ModelText(), err)

	_, err = rt.Run(context.Background(), shout(), "shout", `{"text": ""}`)
	fmt.Println(err)
	// Output:
	// HELLO <nil>
	// shout: the text is empty
}

// A registry finds a tool under each of its names, and hands out arguments in the tool's own terms.
func ExampleRegistry() {
	registry, err := tools.NewRegistry(shout())
	if err != nil {
		fmt.Println(err)
		return
	}
	tool, args, err := registry.Resolve("Yell", json.RawMessage(`{"message":"hello"}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %s\n", tool.ID, args)

	_, _, err = registry.Resolve("shoot", nil, nil)
	fmt.Println(err)
	// Output:
	// shout {"text":"hello"}
	// unknown tool "shoot"
	// the tools are shout
}

// Fit keeps both ends of a text that is too long for a model.
func ExampleFit() {
	text := strings.Repeat("a line of a log\n", 100)
	fmt.Print(tools.Fit(text, 64, "the file /tmp/log has all of it"))
	// Output:
	// a line of a log
	// a line of a log
	// [1536 bytes left out here, too long for the model's window; the file /tmp/log has all of it]
	// a line of a log
	// a line of a log
}
