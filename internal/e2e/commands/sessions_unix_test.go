//go:build unix

package commands

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"acp-agent/capability"
	"acp-agent/internal/testkit/acptest"
	"acp-agent/permissions"
	"acp-agent/store"
	"acp-agent/transcript"
)

// shell runs the agent's subcommands for one user.
type shell struct {
	t    *testing.T
	home string
	dir  string // the project
}

func newShell(t *testing.T, model string) *shell {
	t.Helper()
	s := &shell{t: t, home: t.TempDir(), dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(s.home, "model.jsonl"), []byte(model), 0o644); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *shell) command(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.CommandContext(s.t.Context(), self, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), acptest.EnvProgram+"=1", "HOME="+s.home, "XDG_STATE_HOME="+s.home, "XDG_CONFIG_HOME="+s.home,
		"XDG_DATA_HOME="+s.home, "XDG_CACHE_HOME="+s.home, "GORACE=atexit_sleep_ms=0", "ACP_AGENT_MODEL_SCRIPT="+filepath.Join(s.home, "model.jsonl"))
	return cmd
}

// run returns what a command printed, and checks its exit code.
func (s *shell) run(code int, args ...string) (out, errs string) {
	s.t.Helper()
	cmd := s.command(args...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if got := cmd.ProcessState.ExitCode(); got != code || err != nil && !failed {
		s.t.Fatalf("%q: exit code %d, want %d; %v, %s", args, got, code, exit, stderr.String())
	}
	return stdout.String(), stderr.String()
}

func (s *shell) store() *store.Store {
	s.t.Helper()
	st := store.New(store.Options{Dir: filepath.Join(s.home, "acp-agent", "conversations")})
	s.t.Cleanup(func() { _ = st.Close() })
	return st
}

// list are the stored sessions.
func (s *shell) list(args ...string) []store.Info {
	s.t.Helper()
	out, _ := s.run(0, append([]string{"sessions", "list", "--json"}, args...)...)
	var infos []store.Info
	if err := json.Unmarshal([]byte(out), &infos); err != nil {
		s.t.Fatalf("%s: %v", out, err)
	}
	return infos
}

const talk = `{"when": "lighthouse", "say": "The **lighthouse** is listed.", "call": [{"name": "glob", "args": {"filePattern": "*"}}]}
{"say": "See https://wiki.acme.example/lighthouse."}
{"when": "second", "say": "A second answer."}
`

func TestSessions(t *testing.T) {
	t.Parallel()
	s := newShell(t, talk)
	if out, errs := s.run(0, "sessions", "list"); out != "" || !strings.Contains(errs, "No conversation is stored") {
		t.Errorf("without any: %q, %q", out, errs)
	}
	s.run(0, "run", "Find the lighthouse")
	infos := s.list()
	if len(infos) != 1 || infos[0].Title != "Find the lighthouse" || infos[0].Turns != 1 || infos[0].Cwd != s.dir {
		t.Fatalf("listed %+v", infos)
	}
	id := infos[0].ID
	if others := s.list("--cwd", s.home); len(others) != 0 {
		t.Errorf("of another directory: %+v", others)
	}
	if out, _ := s.run(0, "sessions", "list", "--cwd", "."); !strings.Contains(out, id) || !strings.Contains(out, "Find the lighthouse") {
		t.Errorf("the table is %s", out)
	}

	for _, name := range []string{id, id[:len(id)-4], strings.TrimPrefix(id, "ses_")[:12]} {
		if out, _ := s.run(0, "sessions", "show", name); !strings.Contains(out, "› Find the lighthouse") || !strings.Contains(out, "● Find *") || !strings.Contains(out, "Allowed by") {
			t.Errorf("%s shows %s", name, out)
		}
	}
	if _, errs := s.run(1, "sessions", "show", "ses_zz"); !strings.Contains(errs, `begins with "ses_zz"`) {
		t.Errorf("of an unknown id it says %q", errs)
	}
	s.run(2, "sessions", "show")

	out, _ := s.run(0, "sessions", "search", "LIGHTHOUSE", "listed")
	if !strings.Contains(out, id) || !strings.Contains(out, "agent: The **lighthouse** is listed.") {
		t.Errorf("found %s", out)
	}
	s.run(1, "sessions", "search", `"is lighthouse"`)
	s.run(2, "sessions", "search", `""`)
}

// R144: with --steps each request to the model has its time, tokens and the digest of its system
// prompt, which is the same within a session; the rules of its answers stand above.
func TestSessions_Steps(t *testing.T) {
	t.Parallel()
	s := newShell(t, talk)
	s.run(0, "run", "Find the lighthouse")
	if out, _ := s.run(0, "sessions", "show", "--last"); strings.Contains(out, "system prompt") {
		t.Errorf("without the flag: %s", out)
	}
	out, _ := s.run(0, "sessions", "show", "--last", "--steps")
	steps := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d · script · .*system prompt ([0-9a-f]{12})$`).FindAllStringSubmatch(out, -1)
	if len(steps) != 2 || steps[0][1] != steps[1][1] {
		t.Errorf("the steps are %q of %s", steps, out)
	}

	r := s.store().Create(store.Info{ID: "ses_rules", Cwd: s.dir}, func(err error) { t.Error(err) })
	r.Emit(transcript.UserSaid{Message: &transcript.Message{ID: "msg_1", Role: transcript.User}})
	if err := errors.Join(r.Put("rules", []permissions.Rule{{Permission: "bash", Pattern: "go test *", Action: capability.Allow}}), r.Close()); err != nil {
		t.Fatal(err)
	}
	if out, _ := s.run(0, "sessions", "show", "ses_rules"); !strings.Contains(out, "Rule: allow bash go test *\n") {
		t.Errorf("the rules are not in %s", out)
	}
}

func TestSessions_Export(t *testing.T) {
	t.Parallel()
	s := newShell(t, talk)
	s.run(0, "run", "Find the lighthouse in "+s.dir+"/tower")
	page := filepath.Join(s.dir, "talk.html")
	s.run(0, "sessions", "export", "--last", page)
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "<strong>lighthouse</strong>") {
		t.Errorf("%v, %s", err, text)
	}
	if info, err := os.Stat(page); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if _, errs := s.run(1, "sessions", "export", "--last", page); !strings.Contains(errs, "--force") {
		t.Errorf("a file that is there: %q", errs)
	}
	s.run(0, "sessions", "export", "--last", "--force", page)
	s.run(2, "sessions", "export", "--last", "talk.pdf")
	if out, _ := s.run(0, "sessions", "export", "--last"); !strings.Contains(out, "The **lighthouse** is listed.") {
		t.Errorf("Markdown: %s", out)
	}
	for _, form := range []string{"json", "markdown", "html"} {
		out, _ := s.run(0, "sessions", "export", "--last", "--redact", "--format", form)
		if !strings.Contains(out, "[project]/tower") && !strings.Contains(out, `\[project\]/tower`) {
			t.Errorf("%s: the part below the project is gone: %s", form, out)
		}
		for _, private := range []string{s.dir, s.home, "wiki.acme"} {
			if strings.Contains(out, private) {
				t.Errorf("%s: %s is left", form, private)
			}
		}
	}
}

func TestSessions_Delete(t *testing.T) {
	t.Parallel()
	s := newShell(t, talk)
	s.run(0, "run", "Find the lighthouse")
	s.run(0, "run", "second")
	first, second := s.list()[1].ID, s.list()[0].ID
	if _, errs := s.run(1, "sessions", "delete", "--yes", "ses"); !strings.Contains(errs, "several") || !strings.Contains(errs, first) {
		t.Errorf("a beginning of both: %q", errs)
	}
	if _, errs := s.run(2, "sessions", "delete", first); !strings.Contains(errs, "--yes") {
		t.Errorf("without a terminal: %q", errs)
	}
	if out, _ := s.run(0, "sessions", "delete", "--yes", first); !strings.Contains(out, first) {
		t.Errorf("deleted: %q", out)
	}
	r, err := s.store().Open(second, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, errs := s.run(1, "sessions", "delete", "--yes", second)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if host, _ := os.Hostname(); !strings.Contains(errs, "not deleted") || !strings.Contains(errs, "process") || !strings.Contains(errs, host) {
		t.Errorf("of a session that is open it says %q", errs)
	}
	if left := s.list(); len(left) != 1 || left[0].ID != second {
		t.Errorf("left are %+v", left)
	}
}

// A reader that goes away ends the command.
func TestSessions_BrokenPipe(t *testing.T) {
	t.Parallel()
	s := newShell(t, `{"say": "`+strings.Repeat("many words ", 20_000)+`"}`)
	s.run(0, "run", "talk")
	cmd := s.command("sessions", "export", "--last")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	_ = out.Close()
	if err := cmd.Wait(); err == nil {
		t.Error("the command ended as if all was read")
	}
}
