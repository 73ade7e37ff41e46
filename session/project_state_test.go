package session

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/permissions/projects"
	"acp-agent/tools/pipeline"
)

// Trust puts what the project offers in force, and ends with the content that it was given
// for (T4).
func TestProject_Trust(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	changes := 0
	offered := permissions.Rule{Permission: "bash", Pattern: "make *", Action: capability.Allow, Source: "offered"}
	configure := func() (Settings, projectOffer, error) {
		return (&Host{Configuration: Configuration{Configure: func(string) (Settings, error) {
			return Settings{Rules: Rules{Offered: []permissions.Rule{offered}}}, nil
		}}}).configure(dir)
	}
	_, offer, err := configure()
	if err != nil {
		t.Fatal(err)
	}
	p := newProject(projectOptions{
		dir: dir, store: projects.New(t.TempDir()), configure: configure, policy: pipeline.NewPolicy(permissions.Set{}),
		mode: func() permissions.Mode { return permissions.ModeAsk }, trustChanged: func() { changes++ },
	}, offer)
	inForce := func() bool { return slices.Contains(p.policy.Rules().In(permissions.Project), offered) }
	trust := func() {
		t.Helper()
		shown, err := p.trustOffer()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.trust(shown); err != nil {
			t.Fatal(err)
		}
		if !p.confirmTrust() || !inForce() {
			t.Error("what was offered is not in force")
		}
	}

	p.refresh()
	if p.confirmTrust() || inForce() {
		t.Error("trusted at the start")
	}
	trust()
	if had, err := p.distrust(); !had || err != nil || inForce() {
		t.Errorf("distrusted: %t, %v; in force: %t", had, err, inForce())
	}
	trust()
	if err := os.MkdirAll(filepath.Join(dir, ".acp-agent"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".acp-agent", "config.yaml"), []byte("permissions: {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := changes
	if p.confirmTrust() || inForce() {
		t.Error("still trusted with another content")
	}
	if changes != before+1 {
		t.Errorf("what depends on trust was brought in line %d times, want once", changes-before)
	}
}
