package sandbox

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/testreq"
)

// ssh finds the proxy by itself, for any host and port, which is asked about.
func TestEgress_SSHByHost(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/etc/ssh/ssh_config"); err != nil || !usable("ssh") {
		testreq.Skip(t, "ssh is not installed")
	}
	l, err := net.Listen("tcp", loopback+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	banners := make(chan string, 8)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(conn, "SSH-2.0-test\r\n")
			line, _ := bufio.NewReader(conn).ReadString('\n')
			banners <- line
			conn.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	w := startConfined(t, "bubblewrap", "", map[string]string{
		"ssh": "ssh -p " + port + " someone@" + loopback + " true", "git": "git ls-remote ssh://someone@" + loopback + ":" + port + "/repo.git",
	}, nil)
	for _, name := range []string{"ssh", "git"} {
		text := w.run(t, name)
		select {
		case banner := <-banners:
			if !strings.HasPrefix(banner, "SSH-2.0-OpenSSH") {
				t.Errorf("%s: the server was told %q", name, banner)
			}
		case <-time.After(upWait):
			t.Errorf("%s: the server was not reached: %s", name, text)
		}
		if card := w.card(); !strings.Contains(card, "the command reaches for "+l.Addr().String()) {
			t.Errorf("%s: the card is %s", name, card)
		}
	}
	w.refuses("the command reaches for " + loopback)
	if text := w.run(t, "ssh"); !strings.Contains(text, "the network is closed for "+l.Addr().String()+": the user does not allow it") {
		t.Errorf("refused: %s", text)
	}
}

// TestEgress_SSH is git and ssh with a server of OpenSSH, whose user signs with an agent that they
// opened to commands: keys are not seen, the settings of ssh are.
func TestEgress_SSH(t *testing.T) {
	t.Parallel()
	server := startSSHD(t)
	if server == nil {
		return
	}
	ssh := "ssh -o UserKnownHostsFile=$HOME/.ssh/known_hosts -o BatchMode=yes"
	config := "ControlMaster auto\nControlPath ~/.ssh/shared-%C\n"
	address := "ssh://" + server.user + "@" + server.address + server.repository
	files := map[string]string{
		"/home/.ssh/known_hosts": server.known, "/home/.ssh/config": config, "/home/.ssh/id_test.pub": server.public, "/home/.ssh/id_test": "canary-key",
		"/config.jsonc": `{"sandbox": {"level": "bubblewrap"}, "environment": ["SSH_AUTH_SOCK"]}`,
	}
	host, port, _ := net.SplitHostPort(server.address)
	for name, script := range map[string]string{
		"ssh":  ssh + " -p " + port + " " + server.user + "@" + host + " echo over there",
		"push": `export GIT_SSH_COMMAND="` + ssh + `"; git clone -q ` + address + " cloned && cd cloned && echo more > more && git add . && git -c user.name=t -c user.email=t@example.com commit -qm two && git push -q && echo pushed",
		"look": "ls $HOME/.ssh; cat $HOME/.ssh/*",
	} {
		files[name+".sh"] = script + "\n"
	}
	commands := map[string]string{"ssh": "bash ssh.sh", "push": "bash push.sh", "look": "bash look.sh"}
	w := startConfined(t, "bubblewrap", "", commands, files, "SSH_AUTH_SOCK="+server.agent)
	for name, want := range map[string]string{"ssh": "over there", "push": "pushed"} {
		if text := w.run(t, name); !strings.Contains(text, want) {
			t.Errorf("%s: %s", name, text)
		}
		if card := w.card(); !strings.Contains(card, "the command reaches for "+server.address) {
			t.Errorf("%s: the card is %s", name, card)
		}
	}
	text := w.run(t, "look")
	for _, want := range []string{"known_hosts", "ControlPath none\n", server.public[:40]} {
		if !strings.Contains(text, want) {
			t.Errorf("the command does not see %q: %s", want, text)
		}
	}
	if strings.Contains(text, "canary") {
		t.Errorf("the command sees a private key: %s", text)
	}
	if out, err := exec.Command("git", "-C", server.repository, "log", "--format=%s", "-1").CombinedOutput(); err != nil || string(out) != "two\n" {
		t.Errorf("the repository has %q, %v", out, err)
	}
}

// sshd is a server of OpenSSH on loopback, and an agent with a key that it knows.
type sshd struct {
	user, address, repository string
	known, public, agent      string
}

// startSSHD returns nil where sshd is not installed.
func startSSHD(t *testing.T) *sshd {
	t.Helper()
	program, err := exec.LookPath("sshd")
	if err != nil {
		program = "/usr/sbin/sshd"
	}
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		return string(out)
	}
	if _, err := os.Stat(program); err != nil || !usable("ssh-keygen") || !usable("ssh-agent") {
		t.Log("not tried on this machine: there is no sshd")
		return nil
	}
	if os.Getuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // it wants the directory
			t.Log("not tried on this machine:", err)
			return nil
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, key := range []string{"host", "user"} {
		run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", in(key))
	}
	l, err := net.Listen("tcp", loopback+":0")
	if err != nil {
		t.Fatal(err)
	}
	s := &sshd{address: l.Addr().String(), repository: repository(t), agent: in("agent")}
	l.Close()
	_, port, _ := net.SplitHostPort(s.address)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	s.user = me.Username
	public, err := os.ReadFile(in("user.pub"))
	if err != nil {
		t.Fatal(err)
	}
	hostKey, err := os.ReadFile(in("host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	s.public, s.known = string(public), "["+loopback+"]:"+port+" "+string(hostKey)
	config := fmt.Sprintf("ListenAddress %s\nHostKey %s\nAuthorizedKeysFile %s\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\nPidFile none\n", s.address, in("host"), in("user.pub"))
	if err := os.WriteFile(in("sshd_config"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range []*exec.Cmd{exec.Command(program, "-D", "-e", "-f", in("sshd_config")), exec.Command("ssh-agent", "-D", "-a", s.agent)} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
	for until := time.Now().Add(upWait); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", s.address)
		if err == nil {
			conn.Close()
			add := exec.Command("ssh-add", "-q", in("user"))
			add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+s.agent)
			if err = add.Run(); err == nil {
				return s
			}
		}
		if time.Now().After(until) {
			t.Log("not tried on this machine: sshd does not come up:", err)
			return nil
		}
	}
}
