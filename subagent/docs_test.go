package subagent_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"acp-agent/capability"
	"acp-agent/subagent"
)

// TestDocs checks docs/agents.md against the parser: the example is valid, and every field and
// limit is documented.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```markdown\n(.*?)```").FindAllSubmatch(text, -1)
	if len(examples) == 0 {
		t.Fatal("there is no example")
	}
	for _, example := range examples {
		m, err := subagent.ParseManifest("agents.md", example[1])
		if err != nil {
			t.Fatal(err)
		}
		if found := append(m.Problems, subagent.Check(m, known, capability.NoDirectories())...); len(found) > 0 {
			t.Errorf("the example has the problems %v", found)
		}
	}
	_, err = subagent.ParseManifest("x.md", []byte("---\nname: n\ndescription: d\nnothing: x\n---\np\n"))
	_, names, _ := strings.Cut(err.Error(), "known here: ")
	_, err = subagent.ParseManifest("x.md", []byte("---\nname: n\ndescription: d\nlimits: {nothing: x}\n---\np\n"))
	_, limits, _ := strings.Cut(err.Error(), "known here: ")
	list := strings.Split(names+", "+limits, ", ")
	if len(list) < 20 {
		t.Fatalf("only %q", list)
	}
	for _, name := range list {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/agents.md does not name `%s`", name)
		}
	}
}
