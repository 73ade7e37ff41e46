package cases

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"acp-agent/internal/testkit/testfile"
)

// Case is one row of a case file: what must become of a call.
type Case struct {
	File       string
	Line       int
	Text       string // as the file has it, the places filled in
	Want, Mode string
	Why        string
}

// Read reads a case file: headings "== VERDICT [in MODE]: why", rows beneath them.
func Read(t testing.TB, name string, places *strings.Replacer) []Case {
	t.Helper()
	data, err := os.ReadFile(testfile.Repository(t, "testdata", "cases", name))
	if err != nil {
		t.Fatal(err)
	}
	var all []Case
	heading := Case{File: name}
	for i, line := range strings.Split(string(data), "\n") {
		switch title, isTitle := strings.CutPrefix(line, "== "); {
		case isTitle:
			verdict, why, _ := strings.Cut(title, ": ")
			heading.Want, heading.Mode, _ = strings.Cut(verdict, " in ")
			if heading.Why = why; why == "" || !strings.Contains(" allow ask deny ", " "+heading.Want+" ") {
				t.Fatalf("%s:%d: no heading: %q", name, i+1, line)
			}
		// A command may itself be a comment, but only beneath a heading.
		case line == "", heading.Want == "" && line[0] == '#':
		default:
			c := heading
			c.Line, c.Text = i+1, places.Replace(line)
			all = append(all, c)
		}
	}
	return all
}

// Unquoted is the text of a row that may be written as a JSON string.
func (c Case) Unquoted(t testing.TB, text string) string {
	t.Helper()
	quoted, ok := strings.CutPrefix(text, "json ")
	if !ok {
		return text
	}
	var plain string
	if err := json.Unmarshal([]byte(quoted), &plain); err != nil {
		t.Fatalf("%s:%d: %v", c.File, c.Line, err)
	}
	return plain
}

// Call is the tool call that a row stands for.
func (c Case) Call(t testing.TB) (tool string, args map[string]string) {
	t.Helper()
	switch c.File {
	case "commands.txt":
		return "bash", map[string]string{"cmd": c.Unquoted(t, c.Text)}
	case "urls.txt":
		return "web_fetch", map[string]string{"url": c.Unquoted(t, c.Text)}
	}
	text, quoted := strings.CutPrefix(c.Text, "json ")
	verb, path, _ := strings.Cut(text, " ")
	if quoted {
		path = c.Unquoted(t, "json "+path)
	}
	switch verb {
	case "read":
		return "read", map[string]string{"path": path}
	case "write":
		return "write", map[string]string{"path": path, "content": "x"}
	case "edit":
		return "edit", map[string]string{"path": path, "old_str": "a", "new_str": "b"}
	case "delete":
		return "delete_file", map[string]string{"path": path}
	case "list":
		return "glob", map[string]string{"filePattern": path}
	}
	t.Fatalf("%s:%d: no verb: %q", c.File, c.Line, c.Text)
	return "", nil
}
