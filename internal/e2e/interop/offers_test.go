//go:build unix

package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// everythingPrompts are how the prompts of server-everything are typed, after the command,
// and a part of what the model reads of each.
var everythingPrompts = map[string]struct{ typed, want string }{
	"simple-prompt":      {"", "This is a simple prompt without arguments."},
	"args-prompt":        {` "New York" and all of it`, "What's weather in New York, and all of it?"},
	"completable-prompt": {" name=Eve department=Sales", "Please promote Eve to the head of the Sales team."},
	"resource-prompt":    {" Text 3", "[resource demo://resource/dynamic/text/3]\nResource 3: This is a plaintext resource"},
}

const (
	// blobResource is one that the server has as bytes, staticResource one that it lists.
	blobResource   = "demo://resource/dynamic/blob/9"
	staticResource = "demo://resource/static/document/features.md"
)

func (r *interopServersRun) command(prompt string) string {
	return "mcp:" + r.server.name + ":" + prompt
}

// offerScenes is what the model has to see of the prompts and resources, in turns of their
// own.
func (r *interopServersRun) offerScenes() []map[string]any {
	r.Helper()
	var scenes []map[string]any
	for _, prompt := range r.prompts {
		scenes = append(scenes, map[string]any{
			"when": "^/" + regexp.QuoteMeta(r.command(prompt)), "expect": map[string]any{"told": everythingPrompts[prompt].want}, "say": "I was told.",
		})
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(serverPath(r.T, "server-everything")), "docs", "features.md"))
	if err != nil {
		r.Fatal(err)
	}
	read := map[string]any{"name": r.id("read_resource"), "args": map[string]any{"uri": blobResource}}
	return append(scenes,
		map[string]any{"when": "^read the mention", "expect": map[string]any{"told": strings.TrimSpace(string(text))}, "say": "I was told."},
		map[string]any{"when": "^read the blob$", "call": []any{read}},
		map[string]any{"expect": map[string]any{"last_result": "[resource " + blobResource + ", text/plain, "}, "say": "I was told."})
}

// offerSteps are those turns.
func (r *interopServersRun) offerSteps() []interopStep {
	r.Helper()
	var steps []interopStep
	for _, prompt := range r.prompts {
		how, ok := everythingPrompts[prompt]
		if !ok {
			r.Errorf("the server has a prompt %s, for which there are no arguments here", prompt)
		}
		steps = append(steps, interopStep{Do: "prompt", Text: "/" + r.command(prompt) + how.typed})
	}
	return append(steps,
		interopStep{Do: "prompt", Text: "read the mention ", Mentions: []interopLink{{Name: "features.md", URI: staticResource}}},
		interopStep{Do: "prompt", Text: "read the blob", Answer: "allow"})
}

// everyOffer checks those turns, the first of which is that step: each ended well, the model
// having seen what it had to, and the editor lists each prompt as a command.
func (r *interopServersRun) everyOffer(first int) {
	r.Helper()
	if len(r.prompts) != len(everythingPrompts) {
		r.Errorf("the server has the prompts %q", r.prompts)
	}
	for i, step := range r.report.Steps[first:] {
		if step.Result.StopReason != "end_turn" || r.said(first+i) != "I was told." {
			r.Errorf("the turn %q ended with %+v and said %q", r.job.Steps[first+i].Text, step, r.said(first+i))
		}
	}
	last := r.callsIn(len(r.report.Steps) - 1)
	if len(last) != 1 || !strings.Contains(last[0].contents.text(), fmt.Sprintf("[resource %s, text/plain, ", blobResource)) {
		r.Errorf("the blob was read with %d calls: %+v", len(last), last)
	}
	for _, prompt := range r.prompts {
		if !slices.ContainsFunc(r.report.Lines, func(line interopLine) bool {
			return line.From == "agent" && strings.Contains(line.Line, "available_commands_update") && strings.Contains(line.Line, `"name":"`+r.command(prompt)+`"`)
		}) {
			r.Errorf("the editor was not told of the command %s", r.command(prompt))
		}
	}
}

// shown are the server's tools that a step named, which was /mcp.
func (r *interopServersRun) shown(step int) []string {
	var names []string
	for _, match := range regexp.MustCompile("`"+regexp.QuoteMeta(r.id(""))+"([^`]+)`").FindAllStringSubmatch(r.said(step), -1) {
		names = append(names, match[1])
	}
	slices.Sort(names)
	return names
}
