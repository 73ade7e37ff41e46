package session

import (
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/permissions"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// parts are what a part of a session is made of in a test: a directory, a host without a model
// server, and what the user was shown.
type parts struct {
	opened
	project      *project
	conversation *conversation
	shown        []transcript.Event
}

// newParts returns parts in a directory that holds the named files.
func newParts(t *testing.T, settings Settings, files map[string]string) *parts {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	registry, err := tools.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	p := &parts{opened: opened{ID: "ses_test", settings: settings, host: &Host{IDs: &transcript.IDs{}}}}
	p.host.Registry = registry
	p.host.Manifest = subagent.Manifest{Name: "main"}
	p.host.Manifests = subagent.LoadOptions{Home: home, ConfigHome: filepath.Join(home, ".config"), Known: func(string) bool { return true }}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.work = open(t, dir, nil)
	p.project = newProject(projectOptions{
		dir: dir, policy: pipeline.NewPolicy(permissions.Set{}), mode: func() permissions.Mode { return permissions.ModeAsk },
		configure: func() (Settings, projectOffer, error) { return settings, projectOffer{}, nil }, trustChanged: func() {},
	}, projectOffer{})
	p.conversation = newConversation(conversationOptions{
		sessionID: p.ID, ids: p.host.IDs, watch: func(transcript.Event) {}, archive: newArchive(p.ID, slog.New(slog.DiscardHandler)),
		sink: transcript.SinkFunc(func(e transcript.Event) { p.shown = append(p.shown, e) }),
	}, &account{})
	return p
}

// notices are the texts of the notices that the user was shown.
func (p *parts) notices() (texts []string) {
	for _, e := range p.shown {
		if notice, ok := e.(transcript.Notice); ok {
			texts = append(texts, notice.Text)
		}
	}
	return texts
}

// manifest writes a manifest of the user's own.
func (p *parts) manifest(t *testing.T, name, text string) {
	t.Helper()
	dir := filepath.Join(p.host.Manifests.ConfigHome, "acp-agent", "agents")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// mainTools are tools of a main agent that has the tools of the Host.
func (p *parts) mainTools(limits tools.Limits) *pipeline.Pipeline {
	return pipeline.New(pipeline.Options{
		Toolset:   pipeline.Toolset{Registry: p.host.Registry},
		Judges:    pipeline.Judges{Policy: pipeline.NewPolicy(permissions.Set{})},
		Workspace: p.work, Limits: limits,
	})
}

// agents are a main agent with the tools of the Host, and no subagents.
func (p *parts) agents(t *testing.T) *agents {
	t.Helper()
	a := &agents{opened: p.opened, project: p.project, tools: p.mainTools(tools.Limits{})}
	a.sortTools(p.host.Registry)
	a.tree, a.node = subagent.NewTree(subagent.Options{IDs: p.host.IDs}, subagent.Root{ID: p.ID})
	t.Cleanup(a.tree.Close)
	return a
}

// command writes a slash command of the user's own.
func (p *parts) command(t *testing.T, name, text string) {
	t.Helper()
	dir := filepath.Join(p.host.Manifests.ConfigHome, "acp-agent", "commands")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A part that held the session could use every other part: each has the parts that it needs, so that
// a test can make it without a session.
func TestParts_DoNotHoldTheSession(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			part, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range part.Fields.List {
				pointer, ok := field.Type.(*ast.StarExpr)
				if !ok {
					continue
				}
				held++
				if of, ok := pointer.X.(*ast.Ident); ok && of.Name == "Session" {
					t.Errorf("%s: a struct has a field of the type *Session", name)
				}
			}
			return true
		})
	}
	if held == 0 {
		t.Error("no field was looked at")
	}
}
