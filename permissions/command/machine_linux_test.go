package command_test

import (
	"crypto/rand"
	"os"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/permissions/command"
)

// machineEnv is testEnv where programs that show the machine run where they see it.
func machineEnv() command.Env {
	env := testEnv()
	env.Machine = func() bool { return true }
	return env
}

// TestMachine_Environment runs every command line of ps that is allowed with the real one: none
// prints the environment of a process, in whatever way ps reads its arguments.
func TestMachine_Environment(t *testing.T) {
	t.Parallel()
	ps, err := exec.LookPath("/usr/bin/ps")
	if err != nil {
		testreq.Skip(t, "ps is not installed")
	}
	canary := "CANARY" + rand.Text() // that no command line of the machine has
	run := func(args ...string) string {
		cmd := exec.Command(ps, args...)
		cmd.Env = append(os.Environ(), canary+"=in the environment")
		out, _ := cmd.CombinedOutput() // of arguments that it refuses it prints the usage
		return string(out)
	}
	if !strings.Contains(run("axeww"), canary) {
		t.Fatal("this ps prints no environment, so that nothing is tried")
	}
	words := rapid.SampledFrom([]string{
		"a", "u", "x", "aux", "auxww", "-aux", "axo", "-axo", "-eo", "-Ao", "-e", "-A", "-ef", "-efww", "-eF", "-el", "-ely", "-f", "-F", "-l", "f", "e", "ww", "w", "-ww", "-w", "-o", "o", "-p", "p", "1", "2,3", "--forest",
		"--sort=-%mem", "--sort", "-rss", "pid,args", "args", "cmd=", "pid=", "args:20", "environ", "-u", "root", "-C", "sleep", "axe", "--no-headers", "--pid", "--ppid", "--pid=1", "-L", "-T", "-H", "E", "-E", "-g", "-opid,args", "-p1",
	})
	seen := map[string]bool{}
	for seed := range 6_000 {
		args := rapid.SliceOfN(words, 0, 4).Example(seed)
		text := strings.TrimSpace("ps " + strings.Join(args, " "))
		if seen[text] {
			continue
		}
		seen[text] = true
		if v := command.Judge(text, machineEnv()); v.Action != allow {
			delete(seen, text)
			continue
		}
		if strings.Contains(run(args...), canary) {
			t.Errorf("%q is allowed and prints the environment", text)
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d command lines were allowed and run", len(seen))
	}
	t.Logf("%d command lines of ps were allowed and run", len(seen))
}

// TestJudge_Machine holds which commands show the machine and nothing else, and what must not stand
// beside them.
func TestJudge_Machine(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"ps", "ps aux", "ps auxww", "ps -ef", "ps -eo pid,ppid,cmd --sort=-%mem", "ps -p 123 -o pid,etime,args", "ps aux --sort=-%cpu | head -5", "ps aux | grep node | grep -v grep | awk '{print $2}'",
		"/usr/bin/ps aux", "ps aux 2>/dev/null", "pgrep -fl 'node server'", "pgrep nginx || echo none", "pidof sshd", "lsof -nP -iTCP:3000 -sTCP:LISTEN", "lsof -n -i :3000", "lsof -nti:3000", "ss -tlnp", "ss -ltn 'sport = :80'", "netstat -an | grep LISTEN",
		"netstat -tulpn", "hostname", "hostname -I", "free -h", "uptime", "vmstat 1 3", "w", "who", "top -bn1 | head -20", "ip addr show", "ip -br a", "ifconfig -a", "sleep 2 && ps aux | wc -l", "ps aux > /dev/null", "if pgrep x; then echo y; fi",
	} {
		v := command.Judge(text, machineEnv())
		if v.Action != allow || !v.Machine {
			t.Errorf("%q: %s (%s), machine %v", text, v.Action, v.Reason, v.Machine)
		}
		held := testEnv()
		held.Reading = func() bool { return true }
		if v := command.Judge(text, held); v.Action != ask || v.Machine {
			t.Errorf("%q where the machine cannot be seen: %s", text, v.Action)
		}
	}
	held := machineEnv()
	held.Reading = func() bool { return true }
	for _, text := range []string{
		"ps e", "ps aux e", "ps auxe", "ps eww", "ps axeww", "ps -ef -o args", "ps -ef -u nosuch", "ps -u axe", "ps -eo environ", "ps -o pid,environ", "ps -E", "ps $X", "ps aux $X", `ps "$(echo e)"`, "echo e | xargs ps", "timeout 5 ps aux", "./ps aux", "/tmp/ps",
		"pgrep", "pgrep -F a", "pgrep -x -F a x", "pgrep --pidfile a", "lsof a", "lsof +D .", "lsof -r 1 -n", "lsof -D b", "lsof -i @example.com", "lsof -n -i @example.com:80", "lsof -ni:http", "lsof -P -i :80", "netstat -tlp", "netstat -c -n", "netstat -n 1",
		"ss -K dst 1.2.3.4", "ss -D x", "ss -F a", "ss -E", "ss -r", "ss dst example.com", "ss -N x", "hostname x", "hostname -F a", "hostname -f", "free -s 1", "vmstat 1", "top", "top -b", "top -bn 100", "ip link set lo down", "ip link s", "ip -b a", "ip netns exec x sh",
		"ifconfig lo down", "ifconfig eth0 1.2.3.4", "who a", "uptime x", "pkill x",
		"ps aux; cat a", "ps aux | grep -r x", "ps aux | grep -f a", "ps aux | tee x", "ps aux > x", "ps aux < a", "ps aux; ls", "ps aux; find .", "ps aux; git status", "ps aux | xargs kill", "ps aux | xargs cat", "ps aux; sort a", "ps aux | grep x a", "ps aux; $X", "ps aux; echo $(cat a)",
		"ps aux; PATH=.; ps aux", "sleep 100; ps aux", "sleep $X; ps aux", "find . -exec ps aux \\;", "find . -exec ps aux \\; ; ps aux", "ps aux; test -f a", "f() { ps aux; }; f", "ps aux & cat a", "sleep 1; case ${X:=y} in y) ps aux;; esac",
	} {
		if v := command.Judge(text, held); v.Action == allow {
			t.Errorf("%q is allowed (machine %v)", text, v.Machine)
		}
	}
}
