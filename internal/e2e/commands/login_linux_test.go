package commands

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"acp-agent/internal/testkit/acptest"
)

// pty is a program in a terminal.
type pty struct {
	*testing.T
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File

	mu    sync.Mutex
	shown bytes.Buffer // since what was awaited last
	all   strings.Builder
	more  chan struct{} // a token for each time that something is shown
}

// startPTY starts the program under test in a terminal of its own.
func startPTY(t *testing.T, home string, args ...string) *pty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &pty{T: t, cmd: exec.Command(self, args...), master: master, slave: slave, more: make(chan struct{}, 1)}
	p.cmd.Env = []string{acptest.EnvProgram + "=1", "HOME=" + home, "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}
	p.cmd.Dir = home
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(p.read)
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		slave.Close()
		master.Close()
		reading.Wait()
		if t.Failed() {
			t.Logf("the terminal shows:\n%s", p.text())
		}
	})
	return p
}

// read keeps what is shown until the terminal is gone.
func (p *pty) read() {
	piece := make([]byte, 4096)
	for {
		n, err := p.master.Read(piece)
		p.mu.Lock()
		p.shown.Write(piece[:n])
		p.all.Write(piece[:n])
		p.mu.Unlock()
		select {
		case p.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (p *pty) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all.String()
}

// answer types text once the last thing shown is the question.
func (p *pty) answer(question, text string) {
	p.Helper()
	p.await(question)
	if _, err := io.WriteString(p.master, text); err != nil {
		p.Fatal(err)
	}
}

// await waits until text is shown, and takes it away.
func (p *pty) await(text string) {
	p.Helper()
	deadline := time.After(time.Minute)
	for {
		p.mu.Lock()
		at := strings.Index(p.shown.String(), text)
		if at >= 0 {
			p.shown.Next(at + len(text))
		}
		p.mu.Unlock()
		if at >= 0 {
			return
		}
		select {
		case <-p.more:
		case <-deadline:
			p.Fatalf("%q was not shown", text)
		}
	}
}

// end waits for the program, and checks its exit code and that what is typed is shown.
func (p *pty) end(want int) {
	p.Helper()
	_ = p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != want {
		p.Errorf("exit code %d, want %d", got, want)
	}
	if !p.echoes() {
		p.Error("the terminal does not show any more what is typed")
	}
}

func (p *pty) echoes() bool {
	p.Helper()
	state, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		p.Fatal(err)
	}
	const cooked = unix.ECHO | unix.ICANON | unix.ISIG
	return state.Lflag&cooked == cooked
}

// keyServer answers only requests that have the key.
func keyServer(t *testing.T, key string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"data":[{"id":"beta"},{"id":"alpha"}]}`)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// A login in a terminal: wrong answers are corrected, the key is not shown, and what is
// typed is seen again afterwards.
func TestLogin_Terminal(t *testing.T) {
	t.Parallel()
	const key = "sk-canary-0123456789abcdef"
	address, home := keyServer(t, key), t.TempDir()
	p := startPTY(t, home, "login")
	p.answer("Number or name [1]: ", "99\n")
	p.answer(`there is no provider "99"`, "")
	p.answer("Number or name [1]: ", "other\n")
	p.answer("http://localhost:11434/v1: ", "localhost\n")
	p.answer("expects an http or https address", "")
	p.answer("http://localhost:11434/v1: ", "http://127.0.0.1:9/v1\n")
	p.answer("(not shown; empty if the server needs none): ", "\r")
	p.answer("no server can be reached at http://127.0.0.1:9/v1", "")
	p.answer("http://localhost:11434/v1: ", address+"\n")
	p.answer("(not shown; empty if the server needs none): ", "sk-wrong-012345\r")
	p.answer("the key was refused by "+address, "")
	p.answer("(not shown; empty if the server needs none): ", "x"+key+"\x15"+key+"y\x7f\r")
	p.answer("Models of this server: alpha, beta", "")
	p.answer("Model of new sessions [alpha]: ", "beta\n")
	p.answer("You are logged in to "+address+", model beta.", "")
	p.await("The key is kept in a private file.")
	p.end(0)
	if strings.Contains(p.text(), "sk-") {
		t.Error("the key was shown")
	}
}

// An interrupt at any question stores nothing and leaves the terminal as it was.
func TestLogin_Interrupted(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer string
		signal os.Signal
	}{
		{"Ctrl-C at the key", "\x03", nil},
		{"Ctrl-D at the key", "\x04", nil},
		{"SIGTERM at the key", "", syscall.SIGTERM},
		{"SIGINT at the key", "half a key", syscall.SIGINT},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			p := startPTY(t, home, "login", "--provider", "openai")
			p.answer("(not shown): ", tt.answer)
			if tt.signal != nil {
				if err := p.cmd.Process.Signal(tt.signal); err != nil {
					t.Fatal(err)
				}
			}
			want := 130
			if tt.answer == "\x04" {
				want = 1
			}
			p.await("nothing was stored")
			p.end(want)
			if entries, err := os.ReadDir(home); err != nil || len(entries) > 0 {
				t.Errorf("left in the home: %v, %v", entries, err)
			}
		})
	}
	t.Run("Ctrl-C at the server", func(t *testing.T) {
		p := startPTY(t, t.TempDir(), "login")
		p.answer("Number or name [1]: ", "\x03")
		p.await("interrupted; nothing was stored")
		p.end(130)
	})
}

// The user learns that a key would cross a network unencrypted before it is typed.
func TestLogin_Unencrypted(t *testing.T) {
	t.Parallel()
	p := startPTY(t, t.TempDir(), "login", "--base-url", "http://192.0.2.1/v1")
	p.await("others in the network can read the key")
	p.answer("(not shown; empty if the server needs none): ", "\x03")
	p.end(130)
}
