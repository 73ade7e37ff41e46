package scripts

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/sandbox"
)

// everySession is for make long; without it the sessions of some scripts are loaded again, and of
// fewer in the short form.
var everySession = flag.Bool("load-all", false, "load the sessions of every script again")

// loadsAgain reports whether the sessions of a script are loaded again after the play: the
// sessions of every third one, or of every twelfth in the short form, and of all that speak of
// loading.
func loadsAgain(name, client string) bool {
	hash := fnv.New32()
	_, _ = hash.Write([]byte(name))
	return *everySession || hash.Sum32()%testreq.Rounds[uint32](12, 3) == 0 || strings.HasPrefix(name, "stored") || strings.Contains(client, "load")
}

var update = flag.Bool("update", false, "write the transcripts of testdata/scripts again")

// TestScript plays the whole-agent scripts: the real program, a scripted model,
// a scripted client (acptest.Play), and the transcript of what went over the
// wire. `go test ./internal/e2e/scripts -run TestScript -update` writes the
// transcripts again. The short form plays some of them ([shortForm]), unless -run names scripts.
func TestScript(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "scripts", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if named := flag.Lookup("test.run").Value.String(); !strings.Contains(named, "/") && !*update {
		files = shortForm(files)
	}
	params := scriptParams(t, play)
	params.Files, params.UpdateScripts = files, *update
	testscript.Run(t, params)
}

// shortForm picks the scripts of the short form: every sixth one of each area, which is the part of
// the name before the first "_", and every ninth of the scripts that were written after the
// tests of other agents.
func shortForm(files []string) []string {
	areas := map[string][]string{}
	for _, file := range files {
		area, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txtar"), "_")
		if strings.HasPrefix(area, seed) {
			area = seed
		}
		areas[area] = append(areas[area], file)
	}
	var some []string
	for area, scripts := range areas {
		every := 6
		if area == seed {
			every = 9
		}
		some = append(some, testreq.Pick((len(scripts)+every-1)/every, scripts)...)
	}
	slices.Sort(some)
	return some
}

// seed begins the name of a script that was written after a test of another agent.
const seed = "seed-"

// scriptParams are those of every run of scripts; play carries out the statement of that
// name.
func scriptParams(t *testing.T, play func(*testscript.TestScript, bool, []string)) testscript.Params {
	return testscript.Params{
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			testdata, err := filepath.Abs(filepath.Join("..", "..", "..", "testdata"))
			env.Setenv("MODULES", filepath.Join(testdata, "modules"))
			env.Setenv("TESTDATA", testdata)
			// $REAL is $WORK as the agent writes it, links resolved.
			real, realErr := filepath.EvalSymlinks(env.WorkDir)
			env.Setenv("REAL", real)
			return errors.Join(err, realErr, os.MkdirAll(filepath.Join(env.WorkDir, "project"), 0o755))
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "sandbox":
				return os.Getenv(testreq.Env) == "1" || foundSandbox(t).Confines(), nil
			case "bubblewrap":
				return os.Getenv(testreq.Env) == "1" || foundSandbox(t).Kind == sandbox.Bubblewrap, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"play": play, "agent": agent, "modelserver": modelServer, "llamaserver": llamaServer, "providerserver": providerServer,
			"expand": expand, "record": recordCmd, "alter": alter, "cut": cut,
		},
	}
}

// foundSandbox is the way to confine processes that the program finds here.
func foundSandbox(t *testing.T) sandbox.Report {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	doctor := exec.Command(self, "doctor", "--offline", "--json")
	home := t.TempDir()
	doctor.Env = append(os.Environ(), acptest.EnvProgram+"=1", "HOME="+home, "XDG_STATE_HOME="+home, "XDG_CONFIG_HOME="+home, "GORACE=atexit_sleep_ms=0")
	text, _ := doctor.Output() // it fails, for no model is configured
	var report struct{ Sandbox sandbox.Report }
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatalf("doctor: %v: %s", err, text)
	}
	return report.Sandbox
}

// play plays the client script `client` in the directory `project` against the
// model script `model.jsonl`, and writes the transcript to `transcript`.
// Arguments NAME=value go into the agent's environment.
func play(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("! play: a client script says itself what must fail")
	}
	tb := &scriptTB{ts: ts}
	dir, options := playOptions(ts, args)
	options.Played = func(lines []acptest.Line, home string) {
		judgeUnnamed(tb, lines)
		if !loadsAgain(ts.Name(), ts.ReadFile("client")) {
			return
		}
		reload := options
		reload.Home = home
		acptest.Reload(tb, lines, dir, reload)
	}
	transcript := acptest.Play(tb, "client", ts.ReadFile("client"), dir, options)
	ts.Check(os.WriteFile(ts.MkAbs("transcript"), []byte(transcript), 0o644))
	if tb.failed {
		ts.Logf("%s", transcript)
		ts.Fatalf("the run was not as it should be")
	}
}

// playOptions are the directory and the options of a client script.
func playOptions(ts *testscript.TestScript, env []string) (dir string, o acptest.Options) {
	o.Env = env
	if model, err := os.ReadFile(ts.MkAbs("model.jsonl")); err == nil {
		o.Model = string(model)
	}
	dir, err := filepath.EvalSymlinks(ts.MkAbs("project"))
	ts.Check(err)
	return dir, o
}

// scriptTB is a script as a test.
type scriptTB struct {
	ts     *testscript.TestScript
	failed bool
}

func (*scriptTB) Helper()                           {}
func (s *scriptTB) Logf(format string, args ...any) { s.ts.Logf(format, args...) }
func (s *scriptTB) Cleanup(f func())                { s.ts.Defer(f) }

func (s *scriptTB) Errorf(format string, args ...any) {
	s.failed = true
	s.ts.Logf(format, args...)
}

func (s *scriptTB) Fatalf(format string, args ...any) { s.ts.Fatalf(format, args...) }

func (s *scriptTB) TempDir() string {
	dir, err := os.MkdirTemp("", "acp-script-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		s.ts.Fatalf("%s", fmt.Sprint(err))
	}
	s.ts.Defer(func() { os.RemoveAll(dir) })
	return dir
}
