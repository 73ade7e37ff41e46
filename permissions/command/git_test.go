package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"acp-agent/capability"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/permissions/command"
)

// TestJudge_GitPrograms holds that the repository of each directory in which git may
// run is asked about, and that no one knowing is not an objection (C9).
func TestJudge_GitPrograms(t *testing.T) {
	tests := []struct {
		text string
		bad  string
		want bool
	}{
		{"git status", "/w", false},
		{"git status", "/w/src", true},
		{"git -C src status", "/w/src", false},
		{"git -C src -C deep status", "/w/src/deep", false},
		{"cd src && git status", "/w/src", false},
		{"cd src; git status", "/w", false},
		{"cd src && git log -3", "/w", true},
		{"(cd src); git status", "/w/src", true},
		{"git -C /extra status", "/extra", false},
	}
	for _, tt := range tests {
		t.Run(tt.text+" in "+tt.bad, func(t *testing.T) {
			env := testEnv()
			env.GitPrograms = func(dir string) bool { return dir == tt.bad }
			if v := command.Judge(tt.text, env); (v.Action == allow) != tt.want {
				t.Errorf("Judge(%q) = %s (%s)", tt.text, v.Action, v.Reason)
			}
			if v := command.Judge(tt.text, testEnv()); v.Action != allow {
				t.Errorf("Judge(%q) = %s when no one knows (%s)", tt.text, v.Action, v.Reason)
			}
		})
	}
}

func TestGitConfigPrograms(t *testing.T) {
	tests := []struct {
		name, config string
		want         []string
	}{
		{"plain", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = git@host:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"a#b\"] # c\n\tmerge = x ; d\n", nil},
		{"empty", "", nil},
		{"keys that run", "[core]\n\tfsmonitor = x\n[alias] st = status\n[remote \"origin\"]\n\turl = a\n\tuploadpack = x\n; [core] pager\n", []string{"core.fsmonitor", "alias.st", "remote.origin.uploadpack"}},
		{"drivers", "[diff \"Foo.bar\"]\n\ttextconv = x\n[filter \"lfs\"]\n\tclean = x\n\trequired = true\n[gpg \"ssh\"]\ndefaultKeyCommand=x\n", []string{"diff.Foo.bar.textconv", "filter.lfs.clean", "gpg.ssh.defaultKeyCommand"}},
		{"a bracket in a name", "[diff \"a]b\"] textconv = x\n", []string{"diff.a]b.textconv"}},
		{"a quote in a name", "[diff \"a\\\"]\\\\b\"]textconv=x", []string{"diff.a\"]\\b.textconv"}},
		{"two headers on a line", "[core] [diff \"a\"] textconv = x\n", []string{"diff.a.textconv"}},
		{"old subsection", "[diff.a]\ntextconv = x\n", []string{"diff.a.textconv"}},
		{"a value that continues", "[user]\nname = a \\\n[core]\\\nx\nemail = b\n[core]\npager = x\n", []string{"core.pager"}},
		{"a comment does not continue", "[core] # a \\\npager = x\n", []string{"core.pager"}},
		{"a value's comment does not continue", "[core]\nbare = true # a \\\npager = x\n", []string{"core.pager"}},
		{"a quoted comment mark", "[user]\nname = \"a # \\\nb\"\n[core]\npager = x\n", []string{"core.pager"}},
		{"no value", "[core]\nfsmonitor\n", []string{"core.fsmonitor"}},
		{"carriage returns", "[core]\r\n\tpager = x\r\n", []string{"core.pager"}},
		{"byte order mark", "\ufeff[core]\npager = x\n", []string{"core.pager"}},
		{"more configuration", "[include]\npath = y\n[includeIf \"gitdir:x\"]\n\tpath = y\n", []string{"include.path", "includeif.gitdir:x.path"}},
		{"another working tree", "[core]\nworktree = /\n[extensions]\nworktreeConfig = true\n", []string{"core.worktree", "extensions.worktreeConfig"}},
		{"hooks", "[uploadpack]\npackObjectsHook = x\n[gc]\nrecentObjectsHook = x\n[interactive]\ndiffFilter = x\n", []string{"uploadpack.packObjectsHook", "gc.recentObjectsHook", "interactive.diffFilter"}},
		{"no section", "pager = x\n", []string{"line 1 is not understood"}},
		{"an open header", "[core\npager = x\n", []string{"line 2 is not understood"}},
		{"an open quote", "[user]\nname = \"a\n", []string{"line 3 is not understood"}},
		{"an unknown escape", "[user]\nname = \\x\n", []string{"line 2 is not understood"}},
		{"a strange key", "[user]\nna_me = x\n", []string{"line 2 is not understood"}},
		{"a comment for a value", "[user]\nname # x\n", []string{"line 2 is not understood"}},
		{"NUL", "[user]\x00\n", []string{"line 1 is not understood"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, command.GitConfigPrograms(tt.config)); diff != "" {
				t.Errorf("programs (-want +got)\n%s", diff)
			}
		})
	}
}

// FuzzGitConfigPrograms holds that a setting that runs a program is found after any
// text that was understood.
func FuzzGitConfigPrograms(f *testing.F) {
	for _, seed := range []string{"[core]\nbare = a \\\n b\n", "[a \"b\\\"]\"] c = \"d # \"\n", "[a] # b\n;\n", "[a.b]\nc", "\ufeff[a]\r\nb=c\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := command.GitConfigPrograms(text + "\n[core]\npager = x\n")
		found := slices.Contains(got, "core.pager") || len(got) > 0 && strings.HasSuffix(got[len(got)-1], "is not understood")
		if continued := strings.HasSuffix(text, "\\"); !found && !continued {
			t.Fatalf("%q hides a program: %q", text, got)
		}
	})
}

// TestGitKeyRuns_Indirectly holds keys whose value names no program and leads git to one all the same.
func TestGitKeyRuns_Indirectly(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"protocol.ext.allow", "protocol.allow", "rebase.instructionFormat", "diff.guitool", "merge.guitool", "lfs.customtransfer.x.path", "lfs.standalonetransferagent", "svn.authorsProg", "options.strategy"} {
		if !command.GitKeyRuns(key) {
			t.Errorf("%s does not count", key)
		}
	}
	for _, key := range []string{"maintenance.strategy", "lfs.repositoryformatversion", "protocol.version", "rebase.autosquash", "svn.authorsfile"} {
		if command.GitKeyRuns(key) {
			t.Errorf("%s counts", key)
		}
	}
}

// TestGitConfigPrograms_AgainstGit holds that what git reads as a setting that runs a
// program is found, or the file is not understood.
func TestGitConfigPrograms_AgainstGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		testreq.Skip(t, "no git, which is the oracle of this test")
	}
	name := filepath.Join(t.TempDir(), "config")
	pieces := rapid.SampledFrom([]string{
		"[core]", "[core]", "[a \"b\"]", "[diff \"a]b\"]", "[diff.x]", "[", "]", "\"", "\\", "\\\n", "\n", "\n", "\n", " ", "\t", "#", ";", "=", "= x", "pager = x", "pager=x", "\npager = y\n", "textconv = z", "pager", "\\\"", "\\\\", "\r\n", "\r", "name = a", "\ufeff", "[core] pager = x", "é", "\x00", "\v", "\f", "[core ]", "[ core]", "[CORE]", "[core \"\"]", "PAGER = x", "[\"core\"]",
	})
	rapid.Check(t, func(rt *rapid.T) {
		config := "[user]\n" + strings.Join(rapid.SliceOfN(pieces, 1, 14).Draw(rt, "pieces"), "")
		if err := os.WriteFile(name, []byte(config), 0o600); err != nil {
			rt.Fatal(err)
		}
		out, err := exec.Command(git, "config", "--file", name, "--list", "-z", "--name-only").Output()
		if err != nil {
			return // git refuses to work with such a file
		}
		var want []string
		for key := range strings.SplitSeq(string(out), "\x00") {
			if command.GitKeyRuns(key) {
				want = append(want, strings.ToLower(key))
			}
		}
		got := command.GitConfigPrograms(config)
		if n := len(got); n > 0 && strings.HasSuffix(got[n-1], "is not understood") {
			return
		}
		for i := range got {
			got[i] = strings.ToLower(got[i])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("%q (-git +got)\n%s", config, diff)
		}
	})
}

func TestGitEnv(t *testing.T) {
	env := command.GitEnv()
	for _, want := range []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0", "CDPATH="} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, setting := range []string{"core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "safe.bareRepository=explicit"} {
		key, value, _ := strings.Cut(setting, "=")
		i := slices.IndexFunc(env, func(v string) bool {
			return strings.HasPrefix(v, "GIT_CONFIG_KEY_") && strings.HasSuffix(v, "="+key)
		})
		if i < 0 || !strings.HasSuffix(env[i+1], "="+value) {
			t.Errorf("%s is not set", setting)
		}
	}
}

// What git keeps as files is asked about where its text would get out in another form than
// the one in which results leave out users and passwords.
func TestJudge_WhatGitKeeps(t *testing.T) {
	for text, asked := range map[string]bool{
		"cat .git/config": true, "rev .git/config": true, "cut -d: -f3 .git/config | head": true, "od -c src/../.git/config": true,
		"cd .git && fold -w 5 config": true, "grep -o . < .git/config": true, "git remote -v | rev": true, "git remote -v; rev a": true,
		"git remote -v": false, " git remote -v ": false, "git remote | head": false, "git -C src remote -v | rev": false, "cat .git/HEAD": false,
		"od -tx1 .git/objects/aa/bb": true, "cat .git/modules/m/objects/pack/p.pack": true, "cat .GIT/Objects/aa/bb": true, "cat .svn/pristine/aa/aabb.svn-base": true, "head a/.svn/text-base/x": true, "cat .hg/store/data/a.i": true, "cat .hg/patches/a.diff": true, "cat .hg/shelved/a.patch": true, "cat .hg/shelve-backup/a.patch": true, "cat .hg/merge/0a1b": true, "cat .HG/Patches-mine/a.diff": true, "cat .hg/patches.queues": false, "cat CVS/Base/a": true, "cat a/_darcs/patches/x": true, "cat .bzr/repository/x": true, "cat CVS/Entries": false, "cat .svn/entries": false, "cat .hg/branch": false, "ls .git/objects": false,
		"cat objects/a .git/b": false,
	} {
		env := testEnv()
		env.HoldsAddress = func(path string) bool { return path == "/w/.git/config" }
		env.GitHoldsAddress = func(dir string) bool { return dir == "/w" }
		v := command.Judge(text, env)
		if (v.Action != allow) != asked {
			t.Errorf("Judge(%q) = %s (%s)", text, v.Action, v.Reason)
		}
	}
}

// A command that prints content is judged by the names that git says it would print.
func TestJudge_GitContent(t *testing.T) {
	var asked [][]string
	env := testEnv()
	env.GitHoldsSecret = func(string) bool { return false }
	env.GitNames = func(dir string, words []string) ([]string, bool) {
		asked = append(asked, append([]string{dir}, words...))
		switch words[len(words)-1] {
		case "old":
			return []string{"/w/a", "/w/deploy/.env"}, true
		case "above":
			return []string{"/w/a", "/other/b"}, true
		case "blob":
			return nil, false
		}
		return []string{"/w/a"}, true
	}
	for text, want := range map[string]capability.Action{
		"git show new": allow, "git show old": ask, "git show blob": ask, "git show new:a": allow, "git show new:.env": deny, "git show new:a new": ask,
		"git log -p new": allow, "git log -p old": ask, "git show above": ask, "git diff new": allow, "git diff old": ask, "git stash show -p": allow, "git -C src diff new": allow,
		"git log -p --follow new": ask, "git diff /etc/passwd b": ask, "git show --format=%GG new": ask, "git diff --ext-diff new": ask,
		"git grep -n func": allow, "git grep -niE 'a|b' new -- src ':!x'": allow, "git grep KEY old": ask, "git grep x blob": ask, "git grep -O x": ask,
		"git grep --no-index x": ask, "git grep -e x": ask, "git grep x --no-index": ask, "git grep -f a": ask, "git grep x /etc/passwd": ask,
		"git grep x -- ':(glob)**'": ask, "git grep": ask, "git show --stat new": allow, "git log -p --grep=x new": allow, "git log -p -n 3 new": allow,
		"git log -p --grep --stat new": ask, "git log -p --author -- old": ask, "git show --find-renames=1% new": ask, "git show --diff-filter=R new": ask,
		"git show -s -p new": ask, "git show --name-only --format=%G? blob2": ask, "git show --stat --author -- new": ask, "git diff --find-copies new": ask, "git show --stat blob": ask, "git show --stat old": allow, "cd $X; git show new": ask,
	} {
		if v := command.Judge(text, env); v.Action != want {
			t.Errorf("%q: %s (%s), want %s", text, v.Action, v.Reason, want)
		}
	}
	asked = nil
	command.Judge("git -C src log -p -U2 --oneline new -- b", env)
	if want := [][]string{{"/w/src", "log", "--oneline", "new", "--", "b"}}; !reflect.DeepEqual(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	asked = nil
	command.Judge("git grep -nci --heading 'a b' new -- src", env)
	if want := [][]string{{"/w", "grep", "-i", "--heading", "-e", "a b", "new", "--", "src"}}; !reflect.DeepEqual(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	asked = nil
	if command.Judge("git log new; git diff -- a; git show --stat HEAD~2; git log $X -p", env); len(asked) != 0 {
		t.Errorf("asked %q, although nothing of history is printed, or it is not known which", asked)
	}
}
