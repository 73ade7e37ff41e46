package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/sandbox"
)

// confined is the agent under one level of the sandbox, with a project, a home that
// holds a secret, and an editor that allows everything.
type confined struct {
	*acptest.Session
	home, project string

	mu      sync.Mutex
	answer  string   // the option that is picked
	refused string   // the beginning of hosts that are not allowed
	cards   []string // what the permission cards said
}

// startConfined starts the agent. commands are what the model runs when the prompt is
// their names; an empty one is the call of a tool of that name. env is added to the agent's
// environment.
func startConfined(t *testing.T, level, capabilities string, commands map[string]string, files map[string]string, env ...string) *confined {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &confined{answer: "allow", home: filepath.Join(dir, "home"), project: filepath.Join(dir, "home", "project")}
	all := map[string]string{
		"home/.ssh/id_ed25519": "canary-ssh", "home/project/.git/HEAD": "ref: refs/heads/main\n",
		"home/project/.git/config": "[core]\n\tbare = false\n", "home/project/.git/objects/x": "", "home/project/.git/refs/x": "",
		"config.jsonc": fmt.Sprintf(`{"sandbox": {"level": %q}, "model": {"api_key": "canary-key"}}`, level),
	}
	for name, text := range files {
		if top, ok := strings.CutPrefix(name, "/"); ok {
			all[top] = text // next to the home
			continue
		}
		all["home/project/"+name] = text
	}
	for name, text := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var model strings.Builder
	for name, cmd := range commands {
		args, err := json.Marshal(map[string]any{"cmd": cmd, "background": name == "job"})
		if err != nil {
			t.Fatal(err)
		}
		tool := "bash"
		if cmd == "" {
			tool, args = name, []byte("{}")
		}
		fmt.Fprintf(&model, `{"when": "^%s$", "call": [{"name": %q, "args": %s}]}`+"\n"+`{"say": "${last_result}"}`+"\n", name, tool, args)
	}
	agent := acptest.Start(t, acptest.Options{
		Home: w.home, Model: model.String(), Terminals: &acptest.Terminals{}, Env: append(env, "ACP_AGENT_CONFIG="+filepath.Join(dir, "config.jsonc")),
		Permission: func(p *acptest.Permission) {
			text, _ := json.Marshal(p.Get("params.toolCall.content"))
			if strings.Contains(string(text), "was moved aside") {
				p.Select("reject")
				return
			}
			w.mu.Lock()
			w.cards = append(w.cards, string(text))
			answer := w.answer
			if refused := w.refused; refused != "" && strings.Contains(string(text), refused) {
				answer = "reject"
			}
			w.mu.Unlock()
			p.Select(answer)
		},
	})
	if capabilities == "" {
		capabilities = "{}"
	}
	// It shows the names of options, so that a rule can be kept for the project.
	agent.Request("initialize", `{"protocolVersion":1,"clientInfo":{"name":"zed","version":"1"},"clientCapabilities":`+capabilities+`}`).Result()
	w.Session = agent.NewSession(w.project)
	return w
}

// run has the model run a command and returns what it then read.
func (w *confined) run(t *testing.T, name string) string {
	t.Helper()
	before := len(w.Text())
	w.Prompt(name).Ends("end_turn")
	text := w.Text()[before:]
	if strings.Contains(text, "cannot be confined") {
		testreq.Skip(t, text)
	}
	return text
}

// answers picks the option of the cards from now on.
func (w *confined) answers(option string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = option
}

// refuses rejects cards with this text, from now on.
func (w *confined) refuses(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused = text
}

// card is what the last permission card said.
func (w *confined) card() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.cards) == 0 {
		return ""
	}
	return w.cards[len(w.cards)-1]
}

// A command that was always allowed without the network does not get it, unasked, during
// one that was always allowed with it.
func TestSandbox_NetworkBeside(t *testing.T) {
	t.Parallel()
	port, came := listen(t)
	fetch := "git ls-remote http://127.0.0.1:1/x"
	w := startConfined(t, "landlock", "", map[string]string{
		"table": fetch, "script": "./net.sh " + port, "both": fetch + "; ls; ./net.sh " + port, "again": fetch + " | ls",
	}, map[string]string{"net.sh": "#!/bin/bash\n(exec 3<>/dev/tcp/127.0.0.1/$1) 2>/dev/null || echo alone\n"})
	w.answers("allow_always")
	w.run(t, "table")
	w.run(t, "script")
	if card := w.card(); !strings.Contains(card, "network off") {
		t.Fatalf("the card does not say that the network is off: %s", card)
	}
	cards := len(w.cards)
	if w.run(t, "again"); len(w.cards) > cards {
		t.Errorf("asked again: %s", w.card())
	}
	w.answers("allow")
	if text := w.run(t, "both"); len(w.cards) == cards || !strings.Contains(w.card(), "network on") {
		t.Errorf("not asked, and %d came during the other command: %s", came.count(t), text)
	}
}

// levels are the sandboxes that these tests go through, each in both forms in which
// a command runs.
var levels = []struct{ level, capabilities string }{
	{"bubblewrap", ""},
	{"bubblewrap", `{"terminal":true}`},
	{"namespaces", ""},
	{"landlock", ""},
	{"landlock", `{"terminal":true}`},
	{"none", ""},
	{"none", `{"terminal":true}`},
}

func levelName(level, capabilities string) string {
	if capabilities != "" {
		return level + " in a terminal of the client"
	}
	return level
}

// attack does what no command may, in words that the command judge does not see.
const attack = `
home=$PWD/.. port=$1
echo x > $home/made
cat $home/.ssh/id_ed25519
cat $home/../config.jsonc
cat sub/.env
(exec 3<>/dev/tcp/127.0.0.1/$port)
mkdir -p .git/hooks
echo evil > .git/hooks/pre-commit
printf '[core]\n\tfsmonitor = evil\n' >> .git/config
mkdir -p .acp-agent
echo '{}' > .acp-agent/config.jsonc
echo x > allowed
true
`

// TestSandbox_Levels is R124 and S3 to S5: what a command that a user approved may
// not do fails under each sandbox, in a terminal of the client as well, and with none
// it succeeds but for what is put back.
func TestSandbox_Levels(t *testing.T) {
	for _, tt := range levels {
		t.Run(levelName(tt.level, tt.capabilities), func(t *testing.T) {
			t.Parallel()
			port, came := listen(t)
			w := startConfined(t, tt.level, tt.capabilities, map[string]string{"go": "bash attack.sh " + port}, map[string]string{"attack.sh": attack, "sub/.env": "canary-env"})
			text := w.run(t, "go")
			sandboxed := tt.level != "none"
			if _, err := os.Lstat(filepath.Join(w.project, "allowed")); err != nil {
				t.Errorf("the command could not write in the project: %s", text)
			}
			if strings.Contains(strings.ReplaceAll(text, landlockReads(tt.level), ""), "canary-") == sandboxed {
				t.Errorf("a secret was read, want %v: %s", !sandboxed, text)
			}
			if n := came.count(t); (n > 0) == sandboxed {
				t.Errorf("%d came over the network: %s", n, text)
			}
			for _, name := range []string{".git/hooks/pre-commit", ".acp-agent/config.jsonc"} {
				if _, err := os.Lstat(filepath.Join(w.project, name)); err == nil {
					t.Errorf("%s is there: %s", name, text)
				}
			}
			config, err := os.ReadFile(filepath.Join(w.project, ".git", "config"))
			if err != nil || string(config) != "[core]\n\tbare = false\n" {
				t.Errorf("the configuration of git is %q, %v: %s", config, err, text)
			}
			if !sandbox.Kind(tt.level).HasView() && (!strings.Contains(text, "put back") || !strings.Contains(text, "core.fsmonitor")) {
				t.Errorf("the result does not say what was put back: %s", text)
			}
			if want := "Sandbox: " + tt.level; !strings.Contains(w.card(), want) {
				t.Errorf("the card does not say %q: %s", want, w.card())
			}
		})
	}
}

// landlockReads is what Landlock cannot hide: secret files inside the project.
func landlockReads(level string) string {
	if level == "landlock" {
		return "canary-env"
	}
	return "nothing"
}

// TestSandbox_Cancel is X4: a child that forks twice, takes a session of its own and
// ignores TERM is gone within 3 s of a cancel, under each sandbox and with none.
func TestSandbox_Cancel(t *testing.T) {
	testreq.Beside(t)
	for i, tt := range testreq.Pick(4, levels) {
		t.Run(levelName(tt.level, tt.capabilities), func(t *testing.T) {
			t.Parallel()
			nap := fmt.Sprintf("3%d%d", os.Getpid(), i)
			stubborn := `trap "" TERM HUP INT
(setsid sh -c 'trap "" TERM; (setsid sh -c "trap \"\" TERM; sleep ` + nap + `" &) ; exit 0' &)
echo up > up
while :; do sleep 0.05; done`
			w := startConfined(t, tt.level, tt.capabilities, map[string]string{"go": "bash stubborn.sh"}, map[string]string{"stubborn.sh": stubborn})
			turn := w.Prompt("go")
			for until := time.Now().Add(upWait); napping(t, nap) == 0; time.Sleep(lookAgain) {
				if text := w.Text(); strings.Contains(text, "cannot be confined") {
					testreq.Skip(t, text)
				}
				if time.Now().After(until) {
					t.Fatal("the command did not come up")
				}
			}
			cancelled := time.Now()
			w.Cancel()
			turn.Ends("cancelled")
			for napping(t, nap) > 0 {
				if took := time.Since(cancelled); took > acptest.Slack(3*time.Second) {
					t.Fatalf("%d are left %v after the cancel", napping(t, nap), took)
				}
				time.Sleep(lookAgain)
			}
			t.Logf("gone %v after the cancel", time.Since(cancelled))
			if tt.capabilities != "" {
				w.Expect("the release of the terminal", func(m *acptest.Message) bool { return m.Method == "terminal/release" })
			}
		})
	}
}

// lookAgain is how long a test waits before it looks at all processes of the machine again.
const lookAgain = 20 * time.Millisecond

// napping counts the processes of this machine that sleep so long.
func napping(t *testing.T, nap string) int {
	t.Helper()
	return allNaps(t)[nap]
}

// allNaps counts the processes of this machine that sleep, by how long they do.
func allNaps(t *testing.T) map[string]int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	naps := map[string]int{}
	for _, entry := range entries {
		if entry.Name()[0] < '0' || entry.Name()[0] > '9' {
			continue
		}
		if nap, sleeps := strings.CutPrefix(commandLine(entry.Name()), "sleep\x00"); sleeps {
			naps[strings.TrimSuffix(nap, "\x00")]++
		}
	}
	return naps
}

// commandLine is how the command line of a process begins; "" without one. It makes three system calls,
// where os.ReadFile makes nine: tests that wait read those of all processes fifty times a second.
func commandLine(pid string) string {
	fd, err := syscall.Open("/proc/"+pid+"/cmdline", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer syscall.Close(fd)
	var text [128]byte
	n, _ := syscall.Read(fd, text[:]) // it may have ended
	return string(text[:max(n, 0)])
}

// TestSandbox_Network is S4: a command on the network table is asked with the network
// and has it, or is asked about the host; another one has none, says so when it fails, and
// is asked with the network when it is sent again.
func TestSandbox_Network(t *testing.T) {
	for _, level := range []string{"bubblewrap", "namespaces", "landlock"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			port, came := listen(t)
			w := startConfined(t, level, "", map[string]string{
				"table": "git ls-remote http://127.0.0.1:" + port + "/x", "script": "bash net.sh " + port, "plain": "touch made",
			}, map[string]string{
				"net.sh": `(exec 3<>/dev/tcp/127.0.0.1/$1) 2>/dev/null || { echo "Could not resolve host: example.org"; exit 6; }`,
			})
			off, table := "network off", "network on"
			if sandbox.Kind(level).HasView() {
				off, table = "network by host", "reaches for 127.0.0.1:"+port
			}
			expect := func(name, card string, comes bool) string {
				t.Helper()
				text := w.run(t, name)
				if !strings.Contains(w.card(), card) {
					t.Errorf("%s: the card does not say %q: %s", name, card, w.card())
				}
				if n := came.count(t); (n > 0) != comes {
					t.Errorf("%s: %d came: %s", name, n, text)
				}
				return text
			}
			expect("plain", off, false)
			expect("table", table, true)
			if text := expect("script", off, false); !strings.Contains(text, "The network is off for commands") {
				t.Errorf("the result does not say that there was no network: %s", text)
			}
			expect("script", "network on", true)
			if text := w.run(t, "plain"); strings.Contains(text, "network") {
				t.Errorf("a command that has nothing to do with it: %s", text)
			}
		})
	}
}

// TestSandbox_NetworkKept is S4 for answers that stay: who allows a command on the network
// table for the session, or for the project, gives it the network, now and from then on,
// whatever stands next to it.
func TestSandbox_NetworkKept(t *testing.T) {
	for _, answer := range []string{"allow_always", "allow_project"} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			port, came := listen(t)
			w := startConfined(t, "landlock", "", map[string]string{
				"fetch": "ls && git ls-remote http://127.0.0.1:" + port + "/x",
			}, nil)
			w.answers(answer)
			for i := range 2 {
				if text := w.run(t, "fetch"); came.count(t) == 0 || strings.Contains(text, "The network is off") {
					t.Errorf("call %d had no network: %s", i+1, text)
				}
			}
			if len(w.cards) != 1 {
				t.Errorf("asked %d times: %q", len(w.cards), w.cards)
			}
		})
	}
}

// TestSandbox_NetworkAgain is S4 for a command that a rule allows: sent again because it
// had no network, it can be given it for good, unless it is one that nothing is stored of.
func TestSandbox_NetworkAgain(t *testing.T) {
	for _, tt := range []struct {
		name, cmd string
		cards     int // in four runs, of which the first is without the network
	}{
		{"known", "make fetch", 1},
		{"known, refused a socket", "make connect", 1},
		{"an interpreter", "bash net.sh", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("python3"); err != nil {
				testreq.Skip(t, "python3 is not installed")
			}
			port, came := listen(t)
			script := `(exec 3<>/dev/tcp/127.0.0.1/` + port + `) 2>/dev/null || { echo "Could not resolve host: example.org"; exit 6; }` + "\n"
			w := startConfined(t, "landlock", "", map[string]string{"go": tt.cmd}, map[string]string{
				"net.sh": script, "Makefile": "fetch:\n\t@bash net.sh\nconnect:\n\t@python3 net.py\n",
				"net.py":        "import socket\nsocket.create_connection(('127.0.0.1', " + port + "))\n",
				"/config.jsonc": `{"sandbox": {"level": "landlock"}, "rules": {"allow": ["bash(make *)", "bash(bash *)"]}}`,
			})
			w.answers("allow_always")
			if tt.cards > 1 {
				w.answers("allow")
			}
			for i := range 4 {
				text := w.run(t, "go")
				if n := came.count(t); (n > 0) != (i > 0) {
					t.Errorf("run %d: %d came: %s", i+1, n, text)
				}
			}
			if len(w.cards) != tt.cards {
				t.Errorf("asked %d times: %q", len(w.cards), w.cards)
			}
		})
	}
}

// TestSandbox_Modules: a module's program runs in the same sandbox, and has the
// network only when its manifest declares it.
func TestSandbox_Modules(t *testing.T) {
	for _, level := range []string{"bubblewrap", "landlock"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			port, came := listen(t)
			program := `#!/bin/bash
echo x > "$HOME/made" 2>/dev/null
(exec 3<>/dev/tcp/127.0.0.1/` + port + `) 2>/dev/null
cat "$HOME/.ssh/id_ed25519" 2>/dev/null
echo '{"output": "ran"}'
`
			manifest := func(name, requires string) string {
				return `{"name": "` + name + `", "description": "Reaches.", "executable": "./run.sh", "inputSchema": {"type": "object"}` + requires + `}`
			}
			w := startConfined(t, level, "", map[string]string{"closed": "", "reach": "", "try": "touch tried"}, map[string]string{
				"/config.jsonc": fmt.Sprintf(`{"sandbox": {"level": %q}, "tools": {"always": ["closed", "reach"], "mount": [
					{"module": "closed", "source": "./closed"}, {"module": "reach", "source": "./reach"}]}}`, level),
				"/closed/tool.json": manifest("closed", ""), "/closed/run.sh": program,
				"/reach/tool.json": manifest("reach", `, "requires": {"net": {"hosts": ["*"]}}`), "/reach/run.sh": program,
			})
			w.run(t, "try") // whether there is this sandbox at all
			text := w.run(t, "closed")
			if !strings.Contains(text, "ran") || strings.Contains(text, "canary") {
				t.Errorf("the module gave %q", text)
			}
			if n := came.count(t); n != 0 {
				t.Errorf("%d came from a module that declares no network", n)
			}
			if text := w.run(t, "reach"); came.count(t) == 0 || !strings.Contains(w.card(), "network on") {
				t.Errorf("no one came from a module that declares the network: %q, %s", text, w.card())
			}
			if _, err := os.Lstat(filepath.Join(w.home, "made")); err == nil {
				t.Error("a module wrote outside")
			}
		})
	}
}

// TestSandbox_Required is S2: a level that does not work here keeps commands from
// running; nothing takes its place.
func TestSandbox_Required(t *testing.T) {
	t.Parallel()
	w := startConfined(t, "sandbox-exec", "", map[string]string{"go": "touch made"}, nil)
	w.Prompt("go").Ends("end_turn")
	text := w.Text()
	if !strings.Contains(text, "cannot be confined") || !strings.Contains(text, "sandbox-exec") {
		t.Errorf("the model read %q", text)
	}
	if _, err := os.Lstat(filepath.Join(w.project, "made")); err == nil {
		t.Error("the command was run")
	}
}
