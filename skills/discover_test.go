package skills_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"acp-agent/permissions"
	"acp-agent/skills"
)

func TestDiscover_Places(t *testing.T) {
	t.Parallel()
	top := tree(t, map[string]string{
		"repo/.git/HEAD": "",
		"repo/sub/deep/.agents/skills/near/SKILL.md":     md("near", "nearest"),
		"repo/sub/deep/.agents/skills/clash/SKILL.md":    md("clash", "of the working directory"),
		"repo/sub/deep/.claude/skills/clash/SKILL.md":    md("clash", "of another agent"),
		"repo/sub/deep/.claude/skills/beside/SKILL.md":   md("beside", "of another agent"),
		"repo/sub/deep/.agents/skills/a/b/deep/SKILL.md": md("deep", "too deep"),
		"repo/sub/deep/.agents/skills/loose.md":          "not a folder",
		"repo/.agents/skills/far/SKILL.md":               md("far", "of the repository"),
		"repo/.agents/skills/clash/SKILL.md":             md("clash", "of the repository"),
		".agents/skills/outside/SKILL.md":                md("outside", "above the repository"),
		"other/.agents/skills/other/SKILL.md":            md("other", "of a further root"),
		"home/.agents/skills/mine/SKILL.md":              md("mine", "of the person"),
		"home/.claude/skills/mine-too/SKILL.md":          md("mine-too", "of the person"),
		"config/acp-agent/skills/set/SKILL.md":           md("set", "of the settings"),
		"paths/many/one/SKILL.md":                        md("one", "configured"),
		"paths/two/SKILL.md":                             md("two", "configured itself"),
		"home/three/SKILL.md":                            md("three", "configured below home"),
	})
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	library, warnings := skills.Discover(t.Context(), skills.Options{
		Cwd: at("repo/sub/deep"), Roots: []string{at("repo"), at("other"), at("other")}, Home: at("home"), ConfigHome: at("config"),
		Bundled: fstest.MapFS{
			"shipped/SKILL.md": {Data: []byte(md("shipped", "of the host"))}, "mine/SKILL.md": {Data: []byte(md("mine", "hidden"))},
			"README.md": {}, "empty/x": {},
		},
		Paths:  []string{at("paths/many"), at("paths/two"), "~/three", "relative", at("absent")},
		Secret: permissions.Secret,
	})
	want := []string{
		"clash: of the working directory", "near: nearest", "beside: of another agent", "far: of the repository",
		"other: of a further root", "mine: of the person", "mine-too: of the person", "set: of the settings",
		"shipped: of the host", "one: configured", "two: configured itself", "three: configured below home",
	}
	if diff := cmp.Diff(want, index(library)); diff != "" {
		t.Errorf("index (-want +got):\n%s", diff)
	}
	expect(t, top, warnings, [][]string{
		{"repo/sub/deep/.claude/skills/clash/SKILL.md", "is not used", "that of repo/sub/deep/.agents/skills/clash/SKILL.md"},
		{"repo/.agents/skills/clash/SKILL.md", "is not used", "that of repo/sub/deep/.agents/skills/clash/SKILL.md"},
		{"bundled mine/SKILL.md", "is not used", "that of home/.agents/skills/mine/SKILL.md"},
		{"relative", "no absolute path"},
		{"absent: "},
	})
	if got, want := len(library.Dirs()), 11; got != want {
		t.Errorf("%d folders on the disk, want %d", got, want)
	}
}

// Without a repository the walk goes on, but not to where everybody may write.
func TestDiscover_NoRepository(t *testing.T) {
	t.Parallel()
	top := tree(t, map[string]string{
		"open/.agents/skills/anybody/SKILL.md":           md("anybody", "of a stranger"),
		"open/mine/.agents/skills/above/SKILL.md":        md("above", "one up"),
		"open/mine/work/src/.claude/skills/own/SKILL.md": md("own", "here"),
	})
	if err := os.Chmod(filepath.Join(top, "open"), 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	library, warnings := skills.Discover(t.Context(), skills.Options{Cwd: filepath.Join(top, "open", "mine", "work", "src")})
	got := index(library)
	if info, err := os.Stat(filepath.Join(top, "open")); err == nil && info.Mode()&os.ModeSticky == 0 {
		got = got[:2] // a system without shared directories
	}
	if diff := cmp.Diff([]string{"own: here", "above: one up"}, got); diff != "" {
		t.Errorf("index (-want +got):\n%s", diff)
	}
	expect(t, top, warnings, nil)
}

// The home directory's skills are the user's own, also on the way up.
func TestDiscover_HomeIsNoProject(t *testing.T) {
	t.Parallel()
	needsLinks(t)
	top := tree(t, map[string]string{
		"home/.agents/skills/dot":   "-> ../../../store/dot",
		"store/dot/SKILL.md":        md("dot", "kept elsewhere"),
		"store/dot/scripts/run.sh":  "",
		"home/work/.git/HEAD":       "",
		"home/.git/HEAD":            "",
		"home/work/.agents/skills/": "",
	})
	for _, cwd := range []string{"home", "home/work"} {
		library, warnings := skills.Discover(t.Context(), skills.Options{Cwd: filepath.Join(top, cwd), Home: filepath.Join(top, "home")})
		if diff := cmp.Diff([]string{"dot: kept elsewhere"}, index(library)); diff != "" {
			t.Errorf("index at %s (-want +got):\n%s", cwd, diff)
		}
		expect(t, top, warnings, nil)
		if diff := cmp.Diff([]string{filepath.Join(top, "store", "dot")}, library.Dirs()); diff != "" {
			t.Errorf("folders (-want +got):\n%s", diff)
		}
	}
}

func TestDiscover_HostileLinks(t *testing.T) {
	t.Parallel()
	needsLinks(t)
	top := tree(t, map[string]string{
		"home/.ssh/id_rsa":                     md("key", "-----BEGIN"),
		"outside/SKILL.md":                     md("outside", "elsewhere"),
		"outside/plain.md":                     md("plain", "elsewhere"),
		"repo/.git/HEAD":                       "",
		"repo/.env":                            md("environment", "TOKEN=1"),
		"repo/lib/inside/SKILL.md":             md("inside", "in the repository"),
		"repo/.agents/skills/a-key/SKILL.md":   "-> ../../../../home/.ssh/id_rsa",
		"repo/.agents/skills/b-file/SKILL.md":  "-> ../../../../outside/plain.md",
		"repo/.agents/skills/c-folder":         "-> ../../../outside",
		"repo/.agents/skills/d-env/SKILL.md":   "-> ../../../.env",
		"repo/.agents/skills/e-none/SKILL.md":  "-> nowhere",
		"repo/.agents/skills/f-loop/SKILL.md":  "-> SKILL.md",
		"repo/.agents/skills/g-dir/SKILL.md/":  "",
		"repo/.agents/skills/inside":           "-> ../../lib/inside",
		"repo/.claude/skills":                  "-> ../.agents/skills",
		"linked/.git/HEAD":                     "",
		"linked/.agents/skills":                "-> ../../home/.agents/skills",
		"home/.agents/skills/private/SKILL.md": md("private", "of the person"),
	})
	library, warnings := skills.Discover(t.Context(), skills.Options{Cwd: filepath.Join(top, "repo"), Secret: permissions.Secret})
	if diff := cmp.Diff([]string{"inside: in the repository"}, index(library)); diff != "" {
		t.Errorf("index (-want +got):\n%s", diff)
	}
	want := [][]string{
		{"a-key/SKILL.md", "leads out of"},
		{"b-file/SKILL.md", "leads out of"},
		{"c-folder/SKILL.md", "leads out of"},
		{"d-env/SKILL.md", "a link to a secret"},
		{"e-none/SKILL.md", "leads nowhere"},
		{"f-loop/SKILL.md", "too many links"},
		{"g-dir/SKILL.md", "is a directory"},
	}
	// .claude/skills is another way to the same files, of which all but the usable are named again.
	expect(t, top, warnings, append(want, want...))

	library, warnings = skills.Discover(t.Context(), skills.Options{Cwd: filepath.Join(top, "linked")})
	if len(library.Index()) > 0 {
		t.Errorf("skills through a link to a directory outside: %q", index(library))
	}
	expect(t, top, warnings, [][]string{{"linked/.agents/skills", "leads out of"}})
}

// A file that turns into a link between the index and the load is not followed.
func TestLibrary_LinkMeanwhile(t *testing.T) {
	t.Parallel()
	needsLinks(t)
	top := tree(t, map[string]string{
		"outside/secret":                 "top secret",
		"repo/.git/HEAD":                 "",
		"repo/.agents/skills/x/SKILL.md": md("x", "harmless"),
	})
	library, _ := skills.Discover(t.Context(), skills.Options{Cwd: filepath.Join(top, "repo")})
	file := filepath.Join(top, "repo", ".agents", "skills", "x", "SKILL.md")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	write(t, file, "-> "+filepath.Join(top, "outside", "secret"), false)
	if content, err := library.Load("x"); err == nil || !strings.Contains(err.Error(), "leads out of") {
		t.Errorf("Load = %q, %v", content, err)
	}
}

func TestDiscover_Bounds(t *testing.T) {
	t.Parallel()
	bundled := fstest.MapFS{}
	for i := range 250 {
		name := fmt.Sprintf("s%03d", i)
		bundled[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte(md(name, "one of many"))}
	}
	library, warnings := skills.Discover(t.Context(), skills.Options{Bundled: bundled})
	if got := len(library.Index()); got != 200 {
		t.Errorf("%d skills, want 200", got)
	}
	expect(t, "", warnings, [][]string{{"bundled s200/SKILL.md", "there are 200 already"}})

	bundled = fstest.MapFS{}
	for i := range 250 {
		bundled[fmt.Sprintf("s%03d/SKILL.md", i)] = &fstest.MapFile{Data: []byte("nothing")}
	}
	if _, warnings = skills.Discover(t.Context(), skills.Options{Bundled: bundled}); len(warnings) != 50 {
		t.Errorf("%d warnings, want 50", len(warnings))
	}
	if last := warnings[len(warnings)-1].Text; last != "this and further problems are not listed" {
		t.Errorf("the last warning is %q", last)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	library, warnings = skills.Discover(ctx, skills.Options{Bundled: fstest.MapFS{"a/SKILL.md": {Data: []byte(md("a", "b"))}}})
	if len(library.Index()) > 0 {
		t.Errorf("cancelled: index %q", index(library))
	}
	expect(t, "", warnings, [][]string{{"cut short"}})
}

func TestDiscover_Nothing(t *testing.T) {
	t.Parallel()
	top := tree(t, map[string]string{"repo/.git/HEAD": "", "repo/.agents": "a file"})
	library, warnings := skills.Discover(t.Context(), skills.Options{Cwd: filepath.Join(top, "repo"), Home: filepath.Join(top, "no-home")})
	expect(t, top, warnings, nil)
	if library.Prompt() != "" || len(library.Index()) > 0 {
		t.Errorf("prompt %q, index %q", library.Prompt(), index(library))
	}
	_, err := library.Load("any")
	if err == nil || !strings.Contains(err.Error(), "no skills were found") || !strings.Contains(err.Error(), ".agents/skills") {
		t.Errorf("error = %v", err)
	}
}
