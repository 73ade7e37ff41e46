package pipeline_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/transcript"
)

// TestSpellings reads and writes by every odd spelling of a path in testdata/spellings,
// with rules that allow everything: what stands there is what the capability check and
// the final denies leave of it. A line holds what becomes of a read, what becomes of a
// write, and the path, quoted as in Go; $W is the session's directory, $O a directory
// beside it, $N the longest name.
//
//	done     it is done without a question
//	asked    a user is asked, in spite of the rules
//	secret   refused, because the name is a secret's (R30, P8)
//	own      refused, because it governs the agent (P5)
//	outside  refused, because it is outside the session's directories (R113)
//	error    it does not exist, or cannot exist
func TestSpellings(t *testing.T) {
	file, err := os.Open("testdata/spellings")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s, outside := spellingGround(t)
	names := strings.NewReplacer("$W", s.dir, "$O", outside, "$N", strings.Repeat("n", 5000))
	lines, number := bufio.NewReader(file), 0
	seen := map[string]bool{}
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		if line == "\n" || line[0] == '#' {
			continue
		}
		number++
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		path, err := strconv.Unquote(fields[2])
		if err != nil || seen[path] {
			t.Fatalf("%s: %v, or it is there twice", line, err)
		}
		seen[path] = true
		path = names.Replace(path)
		if got := s.verdict(t, "read", object{"path": path}); got != fields[0] {
			t.Errorf("read %q: %s, want %s", path, got, fields[0])
		}
		if got := s.verdict(t, "write", object{"path": path, "content": "x"}); got != fields[1] {
			t.Errorf("write %q: %s, want %s", path, got, fields[1])
		}
	}
	if number < 120 {
		t.Errorf("only %d spellings", number)
	}
	for name, text := range map[string]string{
		filepath.Join(outside, "a.txt"): "canary\n", filepath.Join(s.dir, ".env"): "KEY=canary\n",
		filepath.Join(s.dir, ".git/config"): "[core]\n", filepath.Join(s.dir, ".acp-agent/config.jsonc"): "{}\n",
	} {
		if got, err := os.ReadFile(name); err != nil || string(got) != text {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside: %v, %v", entries, err)
	}
}

// spellingGround is a directory with all that an odd path could be after.
func spellingGround(t *testing.T) (s *stage, outside string) {
	t.Helper()
	s = newStage(t, nil)
	outside = filepath.Join(filepath.Dir(s.dir), filepath.Base(s.dir)+"-beside")
	for _, dir := range []string{".git/hooks", ".acp-agent", ".vscode", "dir", "keys", outside} {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.dir, dir)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"a.txt": "text\n", "dir/a.txt": "text\n", ".env": "KEY=canary\n", ".git/config": "[core]\n",
		".acp-agent/config.jsonc": "{}\n", ".vscode/settings.json": "{}\n", "keys/server.pem": "canary\n", ".env.example": "KEY=\n",
	} {
		s.write(t, name, text)
	}
	if err := os.WriteFile(filepath.Join(outside, "a.txt"), []byte("canary\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	links := map[string]string{
		"out": outside, "outfile": outside + "/a.txt", "outnew": outside + "/new", "up": "..", "top": "/", "here": ".", "to-dir": "dir",
		"notes": ".env", "notes2": "notes", "loop": "loop", "loop1": "loop2", "loop2": "loop1", "dangling": "nowhere/at/all",
		"cfg": ".git/config", "mine": ".acp-agent", "chain0": "dir", "hooks": ".git/hooks", "longer0": "dir", "back": outside + "/../" + filepath.Base(s.dir) + "/dir",
	}
	for i := range 30 {
		links[fmt.Sprintf("chain%d", i+1)] = fmt.Sprintf("chain%d", i)
	}
	for i := range 50 {
		links[fmt.Sprintf("longer%d", i+1)] = fmt.Sprintf("longer%d", i)
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(s.dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.policy.Remember(permissions.Rule{Permission: "*", Pattern: "*", Action: capability.Allow, Source: "test"})
	return s, outside
}

// verdict makes a call and says in a word what became of it.
func (s *stage) verdict(t *testing.T, tool string, args object) string {
	t.Helper()
	s.asked = nil
	end := s.call(t, tool, args)
	if strings.Contains(end.Text, "canary") {
		t.Errorf("%s %q gave %q", tool, args["path"], end.Text)
	}
	detail := end.Result.Error
	switch {
	case end.State == transcript.Done:
		return "done"
	case len(s.asked) > 0:
		return "asked"
	case detail == nil:
		return "nothing"
	case detail.Code == "reading-secret-file", detail.DeniedBy == permissions.DeniedBySecret:
		return "secret"
	case detail.DeniedBy == permissions.DeniedByProtected:
		return "own"
	case detail.DeniedBy == "capability":
		return "outside"
	}
	return "error"
}
