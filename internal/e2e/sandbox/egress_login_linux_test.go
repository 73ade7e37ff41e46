package sandbox

import (
	"cmp"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testreq"
)

const (
	loginUser     = "jo"
	loginPassword = "canary-Vw8kQz31password"
)

// privateServer serves a repository over http to its one user.
func privateServer(t *testing.T) (address, repo string) {
	t.Helper()
	repo = repository(t)
	if out, err := exec.Command("git", "-C", repo, "config", "http.receivepack", "true").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	backend := &cgi.Handler{Path: httpBackend(), Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(repo), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=" + loginUser}}
	listener, err := net.Listen("tcp", net.JoinHostPort(ownAddress(t), "0"))
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != loginUser || password != loginPassword {
			w.Header().Set("WWW-Authenticate", `Basic realm="private"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	})}}
	server.Start()
	t.Cleanup(server.Close)
	return listener.Addr().String(), repo
}

// A helper, or an included file, that commands can write does not run outside of the sandbox, however the settings name it.
func TestEgress_GitLoginOutside(t *testing.T) {
	t.Parallel()
	// What git lists of an included file may be long, and git may fail at it one moment and not the next.
	long := strings.Repeat("\tk = "+strings.Repeat("x", 40)+"\n", 400)
	const evil = "[credential]\n\thelper = \"!touch ~/ran; echo username=jo; echo password=long-enough-password;\"\n"
	const fill = `printf 'protocol=https\nhost=git.example\n\n' | git credential fill`
	for _, tt := range testreq.Pick(4, []struct{ name, settings, command string }{
		{name: "helper", settings: "[credential]\n\thelper = !~/project/helper.sh\n"},
		{name: "link to a helper", settings: "[credential]\n\thelper = !~/link.sh\n"},
		{name: "link to the project", settings: "[credential]\n\thelper = !~/link/helper.sh\n"},
		{name: "helper of a shell", settings: "[credential \"https://git.example\"]\n\thelper = \"!f() { $HOME/project/helper.sh; }; f\"\n"},
		{name: "quotes of a shell", settings: "[credential]\n\thelper = \"!\\\"$HOME\\\"/pro\\\\ject/helper.sh\"\n"},
		{name: "pattern of a shell", settings: "[credential]\n\thelper = !~/pro*/helper.sh\n"},
		{name: "directories of a shell", settings: "[credential]\n\thelper = !cd ~ && cd project && sh helper.sh\n"},
		{name: "PATH of a shell", settings: "[credential]\n\thelper = !PATH=/usr/bin:/bin:$HOME/project helper.sh\n"},
		{name: "option of a shell", settings: "[credential]\n\thelper = !env -S$HOME/project/helper.sh\n"},
		{name: "module cache", settings: "[credential]\n\thelper = !~/go/pkg/mod/helper.sh\n"},
		{name: "included file", settings: "[include]\n\tpath = ~/project/inc\n"},
		{name: "named from the home", settings: "[include]\n\tpath = project/inc\n"},
		{name: "before a long one", settings: "[include]\n\tpath = ~/project/inc\n[pad]\n" + long},
		{
			name:     "broken at times",
			settings: "[include]\n\tpath = ~/project/changing\n",
			command:  "(while :; do cp inc a; cp broken b; mv a changing; mv b changing; done) & for i in $(seq 20); do " + fill + "; done; kill %1",
		},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			const helper = "#!/bin/bash\ntouch ~/ran\necho username=jo\necho password=long-enough-password\n"
			w := startConfined(t, "bubblewrap", "", map[string]string{"ask": cmp.Or(tt.command, fill)}, map[string]string{
				"/home/.gitconfig": tt.settings, "/home/go/pkg/mod/helper.sh": helper, "helper.sh": helper, "inc": evil, "broken": "[broken\n",
			})
			for link, target := range map[string]string{"link.sh": "project/helper.sh", "link": "project"} {
				if err := os.Symlink(target, filepath.Join(w.home, link)); err != nil {
					t.Fatal(err)
				}
			}
			if text := w.run(t, "ask"); !strings.Contains(text, "no login is given: the user's git has stored none") {
				t.Errorf("the command was told %s", text)
			}
			if _, err := os.Stat(filepath.Join(w.home, "ran")); err == nil {
				t.Error("the helper ran outside of the sandbox")
			}
		})
	}
}

// What another session can write, with its file tools alone, what one of another process wrote, and what lies in a directory
// of the PATH there, does not run outside of the sandbox either: the user's own git does.
func TestEgress_GitLoginOtherSessions(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"open", "stored"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			other, bin := filepath.Join(top, "other"), filepath.Join(top, "bin")
			ran := "#!/bin/bash\ntouch " + filepath.Join(top, "ran") + "\n"
			for path, text := range map[string]string{
				filepath.Join(other, "helper.sh"): ran, filepath.Join(other, "bin", "git"): ran, filepath.Join(bin, "helper.sh"): "echo username=jo; echo password=long-enough-password",
			} {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			w := startConfined(t, "bubblewrap", "", map[string]string{"ask": `printf 'protocol=https\nhost=git.example\n\n' | /usr/bin/git credential fill`}, map[string]string{
				"/home/.gitconfig": "[credential]\n\thelper = \"!sh " + other + "/helper.sh\"\n\thelper = \"!sh " + bin + "/helper.sh\"\n",
			}, "PATH="+filepath.Join(other, "bin")+":"+os.Getenv("PATH"))
			if name == "open" {
				w.Agent.NewSession(other)
			} else {
				w.storeSession(t, other)
			}
			if text := w.run(t, "ask"); !strings.Contains(text, "username=jo") {
				t.Errorf("the command was told %s", text)
			}
			if _, err := os.Stat(filepath.Join(top, "ran")); err == nil {
				t.Error("what the other session can write ran outside of the sandbox")
			}
		})
	}
}

// storeSession has another process of the agent keep a session of a directory.
func (w *confined) storeSession(t *testing.T, dir string) {
	t.Helper()
	agent := acptest.Start(t, acptest.Options{Home: w.home, Model: `{"say": "hello"}`})
	agent.Request("initialize", `{"protocolVersion":1}`).Result()
	agent.NewSession(dir).Prompt("hello").Ends("end_turn")
	agent.Close()
}

// TestEgress_GitLogin is git with a server that wants a password, which the user's own git has stored: the user is
// asked about the login for the host, and the password is in no result.
func TestEgress_GitLogin(t *testing.T) {
	t.Parallel()
	if !usable("git http-backend") {
		t.Log("not tried on this machine: there is no git http-backend")
		return
	}
	for _, level := range []string{"bubblewrap", "namespaces"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			address, repo := privateServer(t)
			url := "http://" + address + "/repo.git"
			fill := `printf 'protocol=http\nhost=` + address + `\n\n' | git credential fill`
			evil := "[credential]\n\thelper = \"!touch ../outside; echo username=evil; echo password=evil;\"\n"
			w := startConfined(t, level, "", map[string]string{
				"push":   "rm -rf c; git clone -q " + url + " c && cd c && echo more > more && git add . && git -c user.name=t -c user.email=t@example.com commit -qm two && git push -q && echo pushed",
				"print":  fill + "; " + fill + " | base64 -w0",
				"forget": `printf 'protocol=http\nhost=` + address + `\nusername=jo\npassword=x\n\n' | git credential reject; git ls-remote ` + url,
				"look":   "ls ~; git config --get-all credential.helper",
				"users":  fill + `; printf 'protocol=http\nhost=` + address + `\nusername=admin\n\n' | git credential fill`,
				"other":  `printf 'protocol=https\nhost=other.example\n\n' | git credential fill`,
			}, map[string]string{
				"/home/.gitconfig":       "[credential]\n\thelper = store\n",
				"/home/.git-credentials": "http://" + loginUser + ":" + loginPassword + "@" + address + "\n",
				".git/config":            "[core]\n\tbare = false\n" + evil,
			})
			w.refuses("logs in to " + address)
			if text := w.run(t, "push"); strings.Contains(text, "<output>pushed") || !strings.Contains(text, "no login is given: the user does not allow it") {
				t.Errorf("refused: %s", text)
			}
			w.refuses("")
			cards := len(w.cards)
			if text := w.run(t, "push"); !strings.Contains(text, "<output>pushed") {
				t.Errorf("push: %s", text)
			}
			asked := slices.IndexFunc(w.cards[cards:], func(card string) bool {
				return strings.Contains(card, "git in the command logs in to "+address) && strings.Contains(card, "unencrypted")
			})
			if asked < 0 {
				t.Errorf("not asked about the login: %q", w.cards[cards:])
			}
			if out, err := exec.Command("git", "-C", repo, "log", "--format=%s", "-1").CombinedOutput(); err != nil || string(out) != "two\n" {
				t.Errorf("the repository has %q, %v", out, err)
			}
			for name, want := range map[string]string{"print": "username=" + loginUser, "forget": "refs/heads/", "look": "acp-agent", "other": "the user's git has stored none"} {
				text := w.run(t, name)
				if !strings.Contains(text, want) {
					t.Errorf("%s: %s", name, text)
				}
				if strings.Contains(text, loginPassword) || strings.Contains(text, "=evil\n") {
					t.Errorf("%s shows a password: %s", name, text)
				}
			}
			cards = len(w.cards)
			w.run(t, "users")
			asked = 0
			for _, card := range w.cards[cards:] {
				if strings.Contains(card, "logs in to") {
					asked++
				}
			}
			if asked != 2 || !strings.Contains(w.card(), "the login of admin that your git keeps") {
				t.Errorf("asked %d times for two users, last with %s", asked, w.card())
			}
		})
	}
}

// A token that the user's git keeps in the place of the name is in no result either.
func TestEgress_GitLoginToken(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdef0123456789abcdef01234567"
	w := startConfined(t, "bubblewrap", "", map[string]string{"print": `printf 'protocol=https\nhost=git.example\n\n' | git credential fill`}, map[string]string{
		"/home/.gitconfig": "[credential]\n\thelper = \"!f() { echo username=" + token + "; echo password=x-oauth-basic; }; f\"\n",
	})
	if text := w.run(t, "print"); strings.Contains(text, token) || !strings.Contains(text, "username=[redacted]") {
		t.Errorf("the model reads %s", text)
	}
}
