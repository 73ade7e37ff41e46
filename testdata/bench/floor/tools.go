package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// tools is what the model is told.
var tools = []any{
	tool("read", "Reads a file.", "path"),
	tool("edit", "Replaces old_str by new_str in a file.", "path", "old_str", "new_str"),
	tool("bash", "Runs a command.", "cmd"),
}

func tool(name, description string, required ...string) any {
	properties := map[string]any{}
	for _, parameter := range required {
		properties[parameter] = map[string]any{"type": "string"}
	}
	return map[string]any{"type": "function", "function": map[string]any{
		"name": name, "description": description,
		"parameters": map[string]any{"type": "object", "properties": properties, "required": required},
	}}
}

// call runs a tool and shows it to the client.
func (s *session) call(ctx context.Context, c call) string {
	var args struct {
		Path   string `json:"path"`
		OldStr string `json:"old_str"`
		NewStr string `json:"new_str"`
		Cmd    string `json:"cmd"`
	}
	_ = json.Unmarshal([]byte(c.Function.Arguments), &args)
	s.update(opened{"tool_call", c.ID, c.Function.Name, "in_progress", json.RawMessage(c.Function.Arguments)})
	output, status := "", "completed"
	var err error
	switch c.Function.Name {
	case "read":
		output, err = read(args.Path)
	case "edit":
		err = edit(args.Path, args.OldStr, args.NewStr)
	case "bash":
		cmd := exec.CommandContext(ctx, "bash", "-c", args.Cmd)
		cmd.Dir = s.cwd
		var text []byte
		text, err = cmd.CombinedOutput()
		output = string(text)
	}
	if err != nil {
		output, status = err.Error(), "failed"
	}
	s.update(ended{"tool_call_update", c.ID, status, []content{{"content", block{"text", output}}}})
	return output
}

func read(path string) (string, error) {
	text, err := os.ReadFile(path)
	return string(text), err
}

func edit(path, from, to string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if strings.Count(string(text), from) != 1 {
		return fmt.Errorf("%q is not in %s exactly once", from, path)
	}
	return os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o644)
}
