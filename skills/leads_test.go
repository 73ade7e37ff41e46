package skills_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/skills"
)

// TestLeads holds that a path is known by where links lead, wherever on the way they
// stand, and whether or not there is anything yet.
func TestLeads(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	err = errors.Join(
		os.MkdirAll(in("dot/agents"), 0o755), os.MkdirAll(in("plain"), 0o755), os.MkdirAll(in("stowed"), 0o755),
		os.WriteFile(in("dot/agents/a.md"), nil, 0o644), os.WriteFile(in("plain/a.md"), nil, 0o644),
	)
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"home": in("dot"), "stowed/a.md": "../dot/agents/a.md", "dangling": "dot/later", "around": "round", "round": "around",
	} {
		if err := os.Symlink(target, in(name)); err != nil {
			testreq.Skip(t, "links cannot be made: "+err.Error())
		}
	}
	for name, want := range map[string][]string{
		"plain":         {"plain"},
		"home/agents":   {"home/agents", "dot/agents"},
		"home/new/deep": {"home/new/deep", "dot/new/deep"},
		"dangling/a.md": {"dangling/a.md", "dot/later/a.md"},
		"stowed":        {"stowed", "stowed/a.md", "dot/agents/a.md"},
		"around":        {"around"},
	} {
		for i := range want {
			want[i] = in(want[i])
		}
		if got := skills.Leads("", in(name)); !slices.Equal(got, want) {
			t.Errorf("%s leads to %q, want %q", name, got, want)
		}
	}
}
