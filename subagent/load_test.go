package subagent_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/permissions"
	"acp-agent/permissions/projects"
	"acp-agent/subagent"
	"acp-agent/tools/builtin"
)

// ground is a user's home and a project in a repository.
type ground struct {
	t                  *testing.T
	home, config, repo string
	secret             func(string) bool
	slots              map[string]subagent.Settings
}

func newGround(t *testing.T) *ground {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &ground{t: t, home: filepath.Join(top, "home"), config: filepath.Join(top, "config"), repo: filepath.Join(top, "repo")}
	g.put(filepath.Join(g.repo, ".git", "HEAD"), "ref")
	return g
}

func (g *ground) put(path, text string) {
	g.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		g.t.Fatal(err)
	}
}

// load loads the agents for a directory of the repository.
func (g *ground) load(dir string, trusted bool) *subagent.Catalog {
	g.t.Helper()
	dir = filepath.Join(g.repo, dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		g.t.Fatal(err)
	}
	snapshot, err := projects.Scan(dir)
	if err != nil {
		g.t.Fatal(err)
	}
	return subagent.Load(subagent.LoadOptions{
		Home: g.home, ConfigHome: g.config, Secret: g.secret, Dir: dir, Project: snapshot, Trusted: trusted, Settings: g.slots,
	})
}

func manifest(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\nYou are " + name + ".\n"
}

func problems(c *subagent.Catalog) []string {
	var list []string
	for _, p := range c.Problems() {
		list = append(list, p.String())
	}
	return list
}

// The shipped agents (R72).
func TestLoad_Shipped(t *testing.T) {
	c := subagent.Load(subagent.LoadOptions{})
	if got := problems(c); got != nil {
		t.Errorf("problems: %q", got)
	}
	if diff := cmp.Diff([]string{"general", "explore", "plan"}, c.Names()); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
	changing := []string{"write", "edit", "bash", "apply_patch", "delete_file", "task", "format_file"}
	for _, e := range c.Entries() {
		m, ok := c.Get(e.Name)
		if !ok || m.Origin != subagent.Builtin || m.Tools == nil || len(m.Prompt) > 1400 {
			t.Errorf("%s: %v, origin %s, tools %v, a prompt of %d bytes", e.Name, ok, m.Origin, m.Tools, len(m.Prompt))
		}
		if !strings.Contains(m.Prompt, "data") {
			t.Errorf("%s is not told that what it reads is data", m.Name)
		}
		switch m.Name {
		case "general":
			if m.Limits != (subagent.Limits{}) || m.Level != subagent.Restricted { // it works as long as its parent
				t.Errorf("general: %+v", m)
			}
		case "title", "summary", "compaction":
			if len(m.Tools) > 0 || m.Mode != subagent.Primary || !m.Hidden {
				t.Errorf("%s: tools %v, mode %s", m.Name, m.Tools, m.Mode)
			}
		case "kraken":
		default:
			if slices.ContainsFunc(m.Tools, func(tool string) bool { return slices.Contains(changing, tool) }) {
				t.Errorf("%s changes things: %v", m.Name, m.Tools)
			}
		}
		for _, tool := range m.Tools {
			if !builtin.Known(tool) {
				t.Errorf("%s: there is no tool %s", m.Name, tool)
			}
		}
	}
	if n := len(c.Prompt()); n > 450 {
		t.Errorf("the lines about agents take %d bytes of each first request", n)
	}
	if _, ok := c.Get("none"); ok {
		t.Error("there is an agent that there is not")
	}
}

func TestLoad_Sources(t *testing.T) {
	g := newGround(t)
	g.put(filepath.Join(g.config, "acp-agent", "agents", "one.md"), manifest("mine", "first"))
	g.put(filepath.Join(g.home, ".agents", "agents", "two.md"), manifest("mine", "second"))
	g.put(filepath.Join(g.home, ".claude", "agents", "explore.md"), manifest("explore", "My own explorer."))
	g.put(filepath.Join(g.repo, ".agents", "agents", "fix.md"), manifest("fix", "Mends things."))
	g.put(filepath.Join(g.repo, ".agents", "agents", "deep", "no.md"), manifest("deep", "is not looked at"))
	g.put(filepath.Join(g.repo, ".agents", "agents", "notes.txt"), "no agent")
	g.put(filepath.Join(g.repo, ".claude", "agents", "same.md"), manifest("fix", "Mends things."))
	g.put(filepath.Join(g.repo, ".claude", "agents", "general.md"), manifest("general", "Takes the place of another."))
	g.put(filepath.Join(g.repo, ".claude", "agents", "mine.md"), manifest("mine", "Replaces the user's."))
	g.put(filepath.Join(g.repo, "sub", ".agents", "agents", "near.md"), manifest("near", "Lies nearer."))
	g.put(filepath.Join(g.repo, "sub", ".agents", "agents", "fix.md"), manifest("fix", "Comes first."))

	t.Run("the user's win over the shipped ones, the project's replace none", func(t *testing.T) {
		c := g.load("sub", true)
		if diff := cmp.Diff([]string{"general", "plan", "mine", "explore", "fix", "near"}, c.Names()); diff != "" {
			t.Errorf("offered (-want +got):\n%s", diff)
		}
		for name, want := range map[string]string{"mine": "first", "explore": "My own explorer.", "fix": "Comes first.", "near": "Lies nearer."} {
			if m, ok := c.Get(name); !ok || m.Description != want {
				t.Errorf("%s: %q, want %q", name, m.Description, want)
			}
		}
		if m, _ := c.Get("general"); m.Origin != subagent.Builtin {
			t.Errorf("general is that of the %s", m.Origin)
		}
		fix := filepath.Join(g.repo, "sub", ".agents", "agents", "fix.md")
		want := []string{
			filepath.Join(g.home, ".agents", "agents", "two.md") + ":2: is not used: the name mine is that of " + filepath.Join(g.config, "acp-agent", "agents", "one.md"),
			filepath.Join(g.repo, ".agents", "agents", "fix.md") + ":2: is not used: the name fix is that of " + fix,
			filepath.Join(g.repo, ".claude", "agents", "general.md") + ":2: is not used: the name general is that of a shipped agent",
			filepath.Join(g.repo, ".claude", "agents", "mine.md") + ":2: is not used: the name mine is that of " + filepath.Join(g.config, "acp-agent", "agents", "one.md"),
		}
		if diff := cmp.Diff(want, problems(c)); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
		if !strings.Contains(c.Prompt(), "- near: Lies nearer.\n") {
			t.Errorf("the prompt is\n%s", c.Prompt())
		}
	})
	t.Run("without trust the project has none", func(t *testing.T) {
		c := g.load("sub", false)
		if diff := cmp.Diff([]string{"general", "plan", "mine", "explore"}, c.Names()); diff != "" {
			t.Errorf("offered (-want +got):\n%s", diff)
		}
		if _, ok := c.Get("fix"); ok {
			t.Error("an agent of a project that is not trusted is there")
		}
		last := c.Problems()[len(c.Problems())-1]
		if !last.Warning || !strings.Contains(last.Text, "3 of the project's agents are not used until you trust the project") {
			t.Errorf("the last problem is %q", last)
		}
	})
	t.Run("a repository that is the home holds the user's own", func(t *testing.T) {
		g.home = g.repo
		c := g.load("", false)
		if m, ok := c.Get("fix"); !ok || m.Origin != subagent.User {
			t.Errorf("fix: %v, %s", ok, m.Origin)
		}
	})
}

// R64: a project's agent can only narrow permissions; Load reports the rules that try more.
func TestLoad_ProjectAllows(t *testing.T) {
	const text = "---\nname: n\ndescription: d\npermissions:\n  level: inherit\n  allow: [\"bash(make)\"]\n  deny: [\"bash(rm *)\"]\n---\np\n"
	g := newGround(t)
	path := filepath.Join(g.repo, ".agents", "agents", "n.md")
	g.put(path, text)
	c := g.load("", true)
	want := []string{path + ":6: allow bash(make): has no effect: an agent of a project lifts no question"}
	if diff := cmp.Diff(want, problems(c)); diff != "" || !c.Problems()[0].Warning {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if m, ok := c.Get("n"); !ok || m.Origin != subagent.Project {
		t.Errorf("%v, %+v", ok, m)
	}
	g.put(path, strings.Replace(text, "deny", "ask", 1))
	if c = g.load("", true); len(c.Problems()) > 0 {
		t.Errorf("the exception to its own ask: %q", problems(c))
	}
	g.put(filepath.Join(g.home, ".agents", "agents", "n.md"), text)
	if m, _ := g.load("", false).Get("n"); m.Origin != subagent.User || len(m.Rules) != 2 {
		t.Errorf("the user's: %+v", m)
	}
}

// A broken manifest does not affect the others (R111).
func TestLoad_Broken(t *testing.T) {
	g := newGround(t)
	dir := filepath.Join(g.repo, ".agents", "agents")
	g.put(filepath.Join(dir, "a.md"), "no front matter")
	g.put(filepath.Join(dir, "b.md"), "---\nname: b\ndescription: d\nrequires:\n  fs:\n    read: ['{workspce}']\n---\np\n")
	g.put(filepath.Join(dir, "c.md"), "---\nname: c\ndescription: d\nmode: none\n---\np\n")
	g.put(filepath.Join(dir, "d.md"), "---\nname: d\ndescription: d\ncolor: red\ntools: [read, NotebookEdit]\n---\np\n")
	g.put(filepath.Join(dir, "e.md"), "")
	g.put(filepath.Join(dir, "g.secret.md"), manifest("g", "d"))
	g.put(filepath.Join(dir, "f.md"), strings.Repeat("x", subagent.MaxManifest+1))
	own := filepath.Join(g.home, ".agents", "agents")
	g.put(filepath.Join(own, "explore.md"), "---\nname: explore\ndescription: d\npermissions: {allow: [nothing]}\n---\np\n")
	g.put(filepath.Join(own, "large.md"), strings.Repeat("x", subagent.MaxManifest+1))
	g.put(filepath.Join(own, "secret.md"), manifest("secret", "d"))
	g.secret = func(path string) bool { return strings.HasSuffix(path, "secret.md") }
	c := g.load("", true)
	want := []string{
		filepath.Join(own, "large.md") + ": is not used: it is larger than 65536 bytes",
		filepath.Join(own, "secret.md") + ": is not read: its name is that of a secret",
		filepath.Join(own, "explore.md") + `:4: allow nothing: there is no tool "nothing"; use a tool id, a capability, an mcp: form or *`,
		filepath.Join(dir, "a.md") + ":1: it does not begin with front matter between two lines of ---",
		filepath.Join(dir, "b.md") + `:6: requires.fs.read: pattern "{workspce}": undefined variable {workspce}`,
		filepath.Join(dir, "c.md") + `:4: mode: must be primary, subagent or all, found "none"`,
		filepath.Join(dir, "d.md") + ":4: color: this field of other agents has no effect here",
		filepath.Join(dir, "d.md") + `:5: tools: there is no tool "NotebookEdit" here; the agent does without it`,
		filepath.Join(dir, "e.md") + ": cannot be used: it is empty, it is not text, or the project's files are too large together",
		filepath.Join(dir, "f.md") + ": cannot be used: it is empty, it is not text, or the project's files are too large together",
		filepath.Join(dir, "g.secret.md") + ": is not used: its name is that of a secret",
	}
	got := problems(c)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"general", "explore", "plan", "d"}, c.Names()); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
	if m, _ := c.Get("explore"); m.Origin != subagent.Builtin {
		t.Error("a broken agent of the user replaced the shipped one")
	}
}

func TestLoad_Bounded(t *testing.T) {
	g := newGround(t)
	for i := range 250 {
		g.put(filepath.Join(g.repo, ".agents", "agents", fmt.Sprintf("a%03d.md", i)), manifest(fmt.Sprintf("a%03d", i), strings.Repeat("long ", 100)))
		g.put(filepath.Join(g.repo, ".claude", "agents", fmt.Sprintf("b%03d.md", i)), "broken")
	}
	c := g.load("", true)
	if n := len(c.Entries()); n > 220 {
		t.Errorf("%d agents", n)
	}
	if n := len(c.Problems()); n == 0 || n > 100 {
		t.Errorf("%d problems", n)
	}
	if n := len(c.Prompt()); n > 7000 || !strings.Contains(c.Prompt(), "more are not listed") {
		t.Errorf("%d bytes about agents in the system prompt", n)
	}
	for line := range strings.Lines(c.Prompt()) {
		if len(line) > 170 {
			t.Errorf("a line of %d bytes in the system prompt", len(line))
		}
	}
}

// A symbolic link that leads out of the project makes it impossible to trust. A link in the
// user's own folder may lead anywhere.
func TestLoad_Links(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	g := newGround(t)
	elsewhere := filepath.Join(g.config, "elsewhere.md")
	g.put(elsewhere, manifest("linked", "d"))
	own := filepath.Join(g.home, ".agents", "agents")
	project := filepath.Join(g.repo, ".claude", "agents")
	if err := errors.Join(os.MkdirAll(own, 0o755), os.Symlink(elsewhere, filepath.Join(own, "l.md")), os.Symlink(elsewhere, filepath.Join(own, "m.md"))); err != nil {
		t.Fatal(err)
	}
	c := g.load("", true)
	if m, ok := c.Get("linked"); !ok || m.Origin != subagent.User || len(c.Problems()) > 0 {
		t.Errorf("%v, %+v, %v", ok, m, c.Problems())
	}
	if err := errors.Join(os.MkdirAll(project, 0o755), os.Symlink(elsewhere, filepath.Join(project, "l.md"))); err != nil {
		t.Fatal(err)
	}
	if _, err := projects.Scan(g.repo); err == nil || !strings.Contains(err.Error(), ".claude/agents/l.md cannot be read inside the project") {
		t.Errorf("a manifest from elsewhere can be trusted: %v", err)
	}
}

// R99: each agent has its own settings.
func TestLoad_Settings(t *testing.T) {
	g := newGround(t)
	g.put(filepath.Join(g.repo, ".agents", "agents", "fix.md"), manifest("fix", "d"))
	zero := 0.0
	g.slots = map[string]subagent.Settings{
		"oracle": {Model: "deep", Temperature: &zero, MaxTokens: 9, Cycles: 3}, "explore": {Model: "small"}, "fix": {Model: "x"}, "missing": {Model: "y"},
	}
	c := g.load("", false)
	m, _ := c.Get("oracle")
	if m.Model != "deep" || *m.Limits.Temperature != 0 || m.Limits.MaxTokens != 9 || m.Limits.Cycles != 3 {
		t.Errorf("oracle: %+v", m)
	}
	if m, _ = c.Get("explore"); m.Model != "small" || m.Limits.Cycles != 20 {
		t.Errorf("explore: %+v", m)
	}
	if m, _ = subagent.Load(subagent.LoadOptions{}).Get("oracle"); m.Model != "" {
		t.Error("the settings of one session reach another")
	}
	if got := problems(c); len(got) != 2 || got[1] != "settings: agents.missing: there is no agent of this name here" {
		t.Errorf("problems %q", got)
	}
}

// Manifests in the user's folders count as the user's word, so no tool writes there.
func TestUserDirs(t *testing.T) {
	for _, dir := range subagent.UserDirs("/home/ann", "/home/ann/.config") {
		if permissions.Protected(filepath.Join(dir, "x.md"), subagent.UserDirs("/home/ann", "/home/ann/.config")...) != permissions.ProtectedDeny {
			t.Errorf("%s can be written to", dir)
		}
	}
}
