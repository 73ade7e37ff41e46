package command_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
	"acp-agent/tools/builtin"
)

// precedence is a row of docs/security.md.
type precedence struct {
	number, call, answer string
	rules                []string
}

// TestPrecedence_Table runs the worked cases of R115 as people read them.
func TestPrecedence_Table(t *testing.T) {
	rows := readPrecedence(t)
	if len(rows) != 23 {
		t.Fatalf("%d rows, want 23", len(rows))
	}
	for i, row := range rows {
		t.Run(row.number, func(t *testing.T) {
			if row.number != fmt.Sprint(i+1) {
				t.Errorf("row %d has the number %s", i+1, row.number)
			}
			set, err := parseSet(row.rules)
			if err != nil {
				t.Fatal(err)
			}
			call, err := parseCall(row.call)
			if err != nil {
				t.Fatal(err)
			}
			if d := set.Decide(call); d.Action.String() != row.answer {
				t.Errorf("%s with %q: got %s (%s), want %s", row.call, row.rules, d.Action, d.Reason, row.answer)
			}
		})
	}
}

// TestPrecedence_EachRuleCounts holds that a row with several rules shows something: it
// would have another answer without one of them.
func TestPrecedence_EachRuleCounts(t *testing.T) {
	for _, row := range readPrecedence(t) {
		call, err := parseCall(row.call)
		if err != nil {
			t.Fatal(err)
		}
		if row.number == "18" || row.number == "20" || len(row.rules) < 2 {
			continue // what they show is that the rules do nothing, or there is one
		}
		differs := false
		for i := range row.rules {
			set, err := parseSet(append(append([]string(nil), row.rules[:i]...), row.rules[i+1:]...))
			if err != nil {
				t.Fatal(err)
			}
			differs = differs || set.Decide(call).Action.String() != row.answer
		}
		if !differs {
			t.Errorf("row %s would have the same answer without any one of its rules", row.number)
		}
	}
}

func readPrecedence(t *testing.T) []precedence {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Which rule decides\n")
	if !found {
		t.Fatal("docs/security.md has no section on which rule decides")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []precedence
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) != 5 || strings.HasPrefix(line, "| #") || strings.HasPrefix(line, "| ---") {
			continue
		}
		row := precedence{number: strings.TrimSpace(cells[0]), call: unquote(cells[2]), answer: strings.TrimSpace(cells[3])}
		for _, rule := range strings.Split(cells[1], "<br>") {
			if rule = unquote(rule); rule != "none" {
				row.rules = append(row.rules, rule)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func unquote(cell string) string { return strings.Trim(strings.TrimSpace(cell), "`") }

// parseSet reads "SCOPE [kept] ACTION PERMISSION[(PATTERN)]" and "mode MODE".
func parseSet(lines []string) (permissions.Set, error) {
	scopes := map[string]permissions.Scope{
		"manifest": permissions.Manifest, "user": permissions.User, "project": permissions.Project, "session": permissions.Session,
	}
	mode, rules := permissions.ModeAsk, map[string][]permissions.Rule{}
	for _, line := range lines {
		words := strings.SplitN(line, " ", 3)
		if words[0] == "mode" {
			mode = permissions.Mode(words[1])
			continue
		}
		var rule permissions.Rule
		if len(words) == 3 && words[1] == "kept" {
			rule.Source = permissions.SourceAlways
			words = append(words[:1], strings.SplitN(words[2], " ", 2)...)
		}
		if len(words) != 3 || scopes[words[0]] == 0 && words[0] != "parent" {
			return permissions.Set{}, fmt.Errorf("%q is no rule", line)
		}
		if err := rule.Action.UnmarshalText([]byte(words[1])); err != nil {
			return permissions.Set{}, err
		}
		rule.Permission, rule.Pattern, _ = strings.Cut(strings.TrimSuffix(words[2], ")"), "(")
		if rule.Source != "" && rule.Permission == "edit" {
			rule.Pattern = path.Join("/w", rule.Pattern)
		}
		rules[words[0]] = append(rules[words[0]], rule)
	}
	set := permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(mode, false, builtin.Defaults())...)
	if rules["parent"] != nil {
		set = set.With(permissions.Manifest, rules["parent"]...).Child(nil)
	}
	for name, scope := range scopes {
		set = set.With(scope, rules[name]...)
	}
	return set, nil
}

func parseCall(text string) (permissions.Call, error) {
	tool, what, _ := strings.Cut(text, " ")
	call := permissions.Call{
		Tool: tool, Home: "/home/ann", Own: []string{"/data/acp"},
		Vars: capability.Vars{capability.VarWorkspace: {"/w"}, permissions.VarScratch: {"/s"}, permissions.VarGrantedHosts: nil},
	}
	switch {
	case tool == "bash":
		call.Capabilities, call.Text = []string{capability.CapShellRun}, what
		call.Resources = command.Judge(what, testEnv()).Resources()
	case tool == "web_fetch":
		call.Capabilities = []string{capability.CapNetFetch}
		call.Resources = []permissions.Resource{{Kind: permissions.Host, Name: what}}
	case tool == "read", tool == "edit":
		call.Capabilities = []string{capability.CapFSRead, capability.CapFSWrite}[:map[string]int{"read": 1, "edit": 2}[tool]]
		call.Resources = []permissions.Resource{{Kind: permissions.Path, Name: path.Join("/w", what)}}
	case !strings.HasPrefix(tool, "mcp__") || what != "":
		return call, fmt.Errorf("%q is no call", text)
	}
	return call, nil
}
