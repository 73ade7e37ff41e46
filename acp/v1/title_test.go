package v1

import (
	"regexp"
	"strings"
	"testing"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// Clients that render titles differently.
var (
	zed           = client{agentTerminals: true, traits: traitsOf("zed")}
	codeCompanion = client{traits: traitsOf("CodeCompanion.nvim")}
)

// codeCompanionLabel is what CodeCompanion shows of a call without a diff
// (docs/editors.md).
func codeCompanionLabel(kind kinds.Kind, title string, locations []kinds.Location) string {
	label := strings.ReplaceAll(string(kind), "_", " ")
	label = strings.ToUpper(label[:1]) + label[1:] + ": "
	if len(locations) > 0 {
		return label + locations[0].Path
	}
	return label + strings.ReplaceAll(cutTitle(title), "`", "")
}

func cutTitle(title string) string {
	title = strings.TrimLeft(title, " \n")
	for _, whole := range []string{"^`([^`]+)`", `^"([^"]+)"`} {
		if m := regexp.MustCompile(whole).FindStringSubmatch(title); m != nil {
			return m[1]
		}
	}
	title = regexp.MustCompile(`(?s)\s*=>.*$`).ReplaceAllString(title, "")
	title = regexp.MustCompile(`(?s)\s*—.*$`).ReplaceAllString(title, "")
	if before, after, ok := strings.Cut(title, ":"); ok && before != "" && len(before) < 40 &&
		!strings.HasPrefix(strings.TrimLeft(after, " "), "//") {
		title = before
	}
	if title = strings.TrimSpace(title); len(title) > 60 {
		title = title[:57] + "..."
	}
	return title
}

// A title reads the same in every client, however it renders titles.
func TestTitle(t *testing.T) {
	tests := []struct {
		name          string
		kind          kinds.Kind
		title         string
		plain         string // "" is the title itself
		zed           string // "" is the title itself
		codeCompanion string // what is shown after the kind; "" is what plain is
	}{
		{name: "a path", kind: kinds.Read, title: "Read pkg/__init__.py", zed: `Read pkg/\_\_init\_\_.py`},
		{name: "a name", kind: kinds.Read, title: "Read my_file.go"},
		{name: "a glob", kind: kinds.Search, title: "Find **/*.go", zed: `Find \*\*/\*.go`},
		{name: "stars", kind: kinds.Search, title: "Search for a*b*c", zed: `Search for a\*b\*c`},
		{name: "backticks", kind: kinds.Search, title: "Search for `x`", zed: "Search for \\`x\\`", codeCompanion: "Search for 'x'"},
		{name: "HTML", kind: kinds.Search, title: "Search for <html>", zed: `Search for \<html\>`},
		{name: "a link", kind: kinds.Search, title: "Search for [x](y)", zed: `Search for \[x\](y)`},
		{name: "an entity", kind: kinds.Search, title: "Search for &amp; a & b", zed: `Search for \&amp; a & b`},
		{name: "a heading", kind: kinds.Other, title: "# a #b", zed: `\# a #b`},
		{name: "a number", kind: kinds.Other, title: "1. first 2. second", zed: `1\. first 2. second`},
		{name: "an item", kind: kinds.Other, title: "- item - more", zed: `\- item - more`},
		{name: "typography", kind: kinds.Search, title: `Search for "--x" in ./... isn't`, zed: `Search for \"\--x\" in ./\... isn't`},
		{name: "mathematics", kind: kinds.Search, title: "Search for $a^2$", zed: `Search for \$a\^2\$`},
		{name: "backslashes", kind: kinds.Read, title: `Read C:\new\_x`, zed: `Read C:\new\\\_x`},
		{name: "an edit, which Zed escapes itself", kind: kinds.Edit, title: "Edit pkg/__init__.py"},
		{name: "an address", kind: kinds.Fetch, title: "Fetch https://example.com/a?b=c"},
		{name: "a subagent's address", kind: kinds.Fetch, title: "explore › Fetch https://example.com/a_b"},
		{name: "an arrow", kind: kinds.Search, title: "Search for a => b — c", zed: `Search for a =\> b — c`},
		{name: "a quotation", kind: kinds.Other, title: `"yes" or no`, zed: `\"yes\" or no`},
		{name: "a task", kind: kinds.Other, title: "explore › Look: where is it?"},
		{name: "a tool of a server", kind: kinds.Other, title: "git_hub · search code"},
		{name: "a command", kind: kinds.Execute, title: `git commit -m "fix: a *b* c"`},
		{name: "a command with backticks", kind: kinds.Execute, title: "echo `date`: now", codeCompanion: "echo 'date': now"},
		{name: "two commands", kind: kinds.Execute, title: "cd a\n\tmake: all\n", plain: "cd a ↵ make: all"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := test.plain
			if want == "" {
				want = test.title
			}
			if got := (client{}).title(test.kind, test.title, "", false); got != want {
				t.Errorf("plain: %q, want %q", got, want)
			}
			shown := test.codeCompanion
			if shown == "" {
				shown = want
			}
			sent := codeCompanion.title(test.kind, test.title, "", false)
			if got := codeCompanionLabel(test.kind, sent, nil); !strings.HasSuffix(got, ": "+shown) {
				t.Errorf("CodeCompanion: %q of %q, want %q", got, sent, shown)
			}
			if want = test.zed; want == "" {
				want = test.title
			}
			if got := zed.title(test.kind, test.title, "", false); got != want {
				t.Errorf("Zed: %q, want %q", got, want)
			}
		})
	}
}

// The titles of our own tools are meaningful even if cut at a colon: they say what is done, or
// which agent or server does it.
func TestTitle_OwnTitlesSurviveTheCut(t *testing.T) {
	tests := []struct{ id, args, want string }{
		{"task", `{"subagent_type":"explore","prompt":"find it"}`, "explore › find it"},
		{"oracle", `{"task":"why?"}`, "Consult oracle"},
		{"kraken", `{"prompt":"rename it"}`, "Refactor"},
		{"mcp__git_hub__search_code", `{}`, "git_hub · search code"},
		{"web_fetch", `{"url":"https://example.com/x"}`, "Fetch https://example.com/x"},
		{"glob", `{"filePattern":"**/*.go"}`, "Find **/*.go"},
		{"grep", `{"pattern":"a*b","path":"sub"}`, "Search for a*b in sub"},
	}
	for _, test := range tests {
		card := kinds.Neutral(test.id)
		if entry, own := builtins().Get(test.id); own {
			card = entry.Card(tools.NewArgs(test.args), kinds.Place{Cwd: "/w"})
		}
		if got := cutTitle(card.Title); got != test.want {
			t.Errorf("%s is called %q, want %q", test.id, got, test.want)
		}
		if card.Locations != nil {
			t.Errorf("%s would be called %s", test.id, card.Locations[0].Path)
		}
	}
}

// A long command is cut on its card, and whole where the user decides about it.
func TestTitle_LongCommand(t *testing.T) {
	long := "echo: " + strings.Repeat("é", 2*commandRunes)
	for name, c := range map[string]client{"plain": {}, "CodeCompanion": codeCompanion} {
		card := c.title(kinds.Execute, long, " (exit 1)", false)
		if n := len([]rune(card)); n > commandRunes+len("` (exit 1)`") || !strings.HasSuffix(strings.Trim(card, "`"), "é… (exit 1)") {
			t.Errorf("%s: the card of a long command has %d runes: %q", name, n, card)
		}
		if asked := c.title(kinds.Execute, long, "", true); strings.Trim(asked, "`") != long {
			t.Errorf("%s: a request shows %q", name, asked)
		}
	}
	if label := zed.title(kinds.Execute, long, "", false); label != long {
		t.Errorf("the label of a terminal is %q", label)
	}
}

// In a request CodeCompanion shows Markdown, where backticks keep their meaning.
func TestTitle_AskedWithBackticks(t *testing.T) {
	for title, want := range map[string]string{
		"echo `date`: now": "``echo `date`: now``", "echo: `date`": "`` echo: `date` ``", "rm: it": "`rm: it`",
	} {
		if got := codeCompanion.title(kinds.Execute, title, "", true); got != want {
			t.Errorf("%q is asked about as %q, want %q", title, got, want)
		}
	}
}

// A client that shows a location instead of the title gets one only for calls about a file.
func TestShownLocations(t *testing.T) {
	list := []kinds.Location{{Path: "a.go"}}
	for _, kind := range kinds.All() {
		about := kind == kinds.Read || kind == kinds.Edit || kind == kinds.Delete || kind == kinds.Move
		if got := codeCompanion.shownLocations(kind, list); (len(got) == 1) != about {
			t.Errorf("a call of kind %s has the locations %v", kind, got)
		}
		if got := zed.shownLocations(kind, list); len(got) != 1 {
			t.Errorf("in Zed a call of kind %s has the locations %v", kind, got)
		}
	}
}

// A title is sent again with a new kind that renders it differently.
func TestTitle_FollowsTheKind(t *testing.T) {
	inTurn(t, zed, func(t *testing.T, tr *translator, r *recorder) {
		tr.Emit(transcript.ToolStarted{CallID: "call_1", Name: "apply_patch", Tool: "apply_patch", Card: label("apply_patch")})
		card := kinds.Card{Kind: kinds.Edit, Title: "Patch __a__"}
		tr.Emit(transcript.ToolReady{CallID: "call_1", Tool: "apply_patch", Args: []byte(`{}`), Card: card})
		r.take()
		card.Kind = kinds.Delete
		tr.Emit(transcript.ToolFinished{CallID: "call_1", State: transcript.Done, Card: card})
		if got := r.lines(); len(got) != 1 || !strings.Contains(got[0], `"title":"Patch \\_\\_a\\_\\_"`) {
			t.Errorf("updates: %q", got)
		}
	})
}
