package command_test

import (
	"slices"
	"strings"
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions/command"
)

// A wrapper is harmless only where it is known what it runs: it is the system's own, all its options are
// known, and none of those around the command changes what that does. Each of these texts runs ./x, or
// gives cat the library ./x, and looks like one that reads (C4, S7).
func TestJudge_Wrappers(t *testing.T) {
	env := treeEnv()
	env.Reading = func() bool { return true }
	for _, text := range []string{
		// programs of the project with the name of a wrapper
		"./timeout 5 cat a", "ls | ./xargs cat", "/w/nice cat a", "src/time ls", "timeout 5 ./nice cat a", "command ./nice cat a", "$HOME/timeout 5 ls", `"./timeout" 5 ls`, "find . -exec ./nice cat {} +",
		// wrappers inside of others
		"timeout 5 env LD_PRELOAD=./x cat a", "ls | xargs env PATH=. cat", "nice env -S 'cat a'", "command exec cat a", "timeout 5 busybox cat a", "nice strace -o a cat a", "timeout 5 flock a cat a", "nice setsid cat a",
		// options that have a value, or have none, in a form that is easily misread
		"ls | xargs --replace ./x cat a", "ls | xargs --max-lines ./x cat a", "ls | xargs --eof ./x cat a", "ls | xargs -eL ./x cat a", "ls | xargs -in ./x cat a", "ls | xargs --process-slot cat ./x a", "ls | xargs --process-slot-var=PATH cat", "ls | xargs --arg-f cat ./x a", "ls | xargs -J cat ./x a",
		"/usr/bin/time --format cat ./x a", "command time --form cat ./x a", `\time --form cat ./x a`, "nice --adj cat ./x", "timeout --sig cat ./x a",
		// the name of the command is replaced
		"ls | xargs -icat cat a", "ls | xargs -0I cat cat a", "ls | xargs -tIcat cat a", "ls | xargs --repl=cat cat a", "ls | xargs --replace=cat cat a", "ls | xargs -I{} -I cat cat a", "ls | xargs -ricat cat a",
	} {
		if v := command.Judge(text, env); v.Action != ask {
			t.Errorf("%q: %s (%s), want ask", text, v.Action, v.Reason)
		}
	}
	for _, text := range []string{
		"timeout 5 cat a", "/usr/bin/timeout -k 1 --foreground 5 cat a", "timeout --signal=KILL 5s cat a", "nice cat a", "nice -n 5 cat a", "nice -5 cat a", "nice --adjustment=5 cat a", "/usr/bin/time -p ls", "/usr/bin/time -f %e ls", "command ls", "command -p ls",
		"ls | xargs cat", "ls | xargs -0 -n1 cat", "ls | xargs -rn1 cat", "ls | xargs -I{} cat {}", "ls | xargs -I % cat %", "ls | xargs -i cat {}", "ls | xargs -i% cat %", "ls | xargs -l1 cat", "ls | xargs -L 1 -P 4 cat", "ls | xargs --no-run-if-empty --max-args=1 cat", "ls | xargs --replace cat {}", "ls | xargs -- cat", "timeout 5 nice cat a",
	} {
		if v := command.Judge(text, env); v.Action != allow {
			t.Errorf("%q: %s (%s), want allow", text, v.Action, v.Reason)
		}
	}
}

// The file from which xargs takes its arguments is read as any other.
func TestJudge_FilesOfWrappers(t *testing.T) {
	env := treeEnv()
	env.Reading = func() bool { return true }
	for text, want := range map[string]capability.Action{
		"xargs -a a echo": allow, "xargs --arg-file=a -n1 echo": allow, "xargs -a .env echo": deny, "xargs -0a .env": deny, "xargs --arg-file .env echo": deny, "xargs -a notes.txt cat": deny,
		"xargs -a /etc/hosts echo": ask, "xargs -a../x echo": ask, "xargs -a ~/.bash_history echo": ask, "timeout 5 xargs -a /etc/hosts echo": ask, "xargs -a $X echo": ask,
	} {
		if v := command.Judge(text, env); v.Action != want {
			t.Errorf("%q: %s (%s), want %s", text, v.Action, v.Reason, want)
		}
	}
}

// A program of the project with the name of a builtin is not the builtin, and does not change the directory
// of the shell.
func TestJudge_ChangesDirectory(t *testing.T) {
	env := treeEnv()
	env.Reading = func() bool { return true }
	for _, text := range []string{"./cd src", "/w/cd src", "CD src", "cd.exe src", "./pushd src", "'./cd' src && ls", "$X/cd src", `"$X"/cd src`, "./cd $X", "timeout 5 ./cd src", "nice cd private && grep -rn x .."} {
		if v := command.Judge(text, env); v.Action != ask {
			t.Errorf("%q: %s (%s), want ask", text, v.Action, v.Reason)
		}
	}
	for text, want := range map[string][]string{"nice cd src && cat a": {"/w/src/a", "/w/a"}, "cd src && cat a": {"/w/src/a"}, "./cd src; cat a": {"/w/a"}} {
		parts := command.Judge(text, env).Parts
		if got := parts[len(parts)-1].Reads; !slices.Equal(got, want) {
			t.Errorf("%q reads %q, want %q", text, got, want)
		}
	}
}

// A rule for a command does not allow a program of the project in front of it, nor a wrapper of which it
// is not known what it runs.
func TestRules_Wrappers(t *testing.T) {
	for _, text := range []string{"./timeout 5 go test ./...", "src/nice go test ./...", "stdbuf --out go test ./...", "/usr/bin/time --form go test ./...", "nohup --x go test ./..."} {
		if d := decide(text, bash("go test *", allow)); d.Action == allow {
			t.Errorf("%q is allowed by a rule for go test", text)
		}
	}
	for _, text := range []string{"timeout 5 go test ./...", "/usr/bin/nice -n 5 go test ./...", "stdbuf -oL go test ./...", "nohup go test ./...", "time go test ./..."} {
		if d := decide(text, bash("go test *", allow)); d.Action != allow {
			t.Errorf("%q is %s (%s)", text, d.Action, d.Reason)
		}
	}
}

// A program that prints its version, or the packages that it has installed, may first run what a variable
// of the environment names.
func TestJudge_VariablesOfPrograms(t *testing.T) {
	env := treeEnv()
	env.Reading = func() bool { return true }
	env.Program = func(name string) (string, bool) { return "/usr/bin/" + name, true }
	for _, text := range []string{
		"LUA_INIT=@x.lua lua -v", "export JAVA_TOOL_OPTIONS=$X; java -version", "for JAVA_HOME in $X; do mvn --help; done", `: "${JAVA_HOME:=$X}"; mvn --help`, "JAVACMD=$X; scala -version",
		"PIP_PYTHON=./x pip list", "export PIP_PYTHON=$X; pip list", "npm_config_x=./x npm list", "GETCONF_DIR=. getconf PATH", "export GETCONF_DIR=$X; getconf PATH", `echo "$(LUA_INIT=@x.lua lua -v)"`,
	} {
		if v := command.Judge(text, env); v.Action != ask {
			t.Errorf("%q: %s (%s), want ask", text, v.Action, v.Reason)
		}
	}
	for _, text := range []string{"v=$(node --version); echo $v", "echo $X; lua -v", "for f in $(ls); do go version; done", "X=$(ls); cat $X", "getconf PATH"} {
		if v := command.Judge(text, env); v.Action != allow {
			t.Errorf("%q: %s (%s), want allow", text, v.Action, v.Reason)
		}
	}
}

// TestJudge_EnvAlone holds that env without a command is asked about for what it shows, with its options as well.
func TestJudge_EnvAlone(t *testing.T) {
	t.Parallel()
	for text, shows := range map[string]bool{
		"env": true, "/usr/bin/env": true, "env -0": true, "env A=1": true, "env -u HOME": true, "env | sort": true, "nice env": false,
		"env ls": false, "./env": false, "env -S ls": false,
	} {
		v := command.Judge(text, testEnv())
		if got := strings.HasPrefix(v.Reason, "env shows all variables"); got != shows || v.Action != ask {
			t.Errorf("%q is %s: %s", text, v.Action, v.Reason)
		}
	}
}
