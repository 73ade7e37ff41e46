package command

import (
	"path"
	"slices"
	"strings"
)

// reverseShell finds DN10 in a single command.
func reverseShell(s simple) finding {
	deny := func() finding { return denies(ReverseSh, s.name()+" connects a shell to the network") }
	switch {
	case hasWord("nc ncat netcat", s.name()):
		if hasFlag(s, "ec", "--exec", "--sh-exec", "--lua-exec") {
			return deny()
		}
	case s.name() == "socat":
		for _, v := range s.argv[1:] {
			up := strings.ToUpper(v)
			if strings.HasPrefix(up, "EXEC:") || strings.HasPrefix(up, "SYSTEM:") || strings.HasPrefix(up, "SHELL:") {
				return deny()
			}
		}
	case isInterpreter(s.name()) || hasWord("awk gawk mawk", s.name()):
		code := strings.ToLower(strings.Join(s.argv[1:], "\n"))
		if containsAny(code, "/dev/tcp/", "/dev/udp/", "/inet/tcp/") {
			return deny()
		}
		connects := containsAny(code, "socket", "fsockopen", "tcpclient", "tcpsocket", "net.connect", "createconnection", "net/http")
		if connects && containsAny(code, "dup2", "subprocess", "pty.", "os.system", "exec", "popen", "/bin/sh", "/bin/bash", "cmd.exe", "shell_exec", "spawn") {
			return deny()
		}
	}
	return finding{}
}

// containsAny reports whether s contains one of the texts.
func containsAny(s string, subs ...string) bool {
	return slices.ContainsFunc(subs, func(sub string) bool { return strings.Contains(s, sub) })
}

// fromNetwork finds DN4 in a single command: it runs the output of a substitution that fetches something,
// or a file that an earlier command of the text has fetched.
func (d *denial) fromNetwork(s simple) finding {
	runsText := isInterpreter(s.name()) || hasWord("eval source . exec xargs trap", s.name()) || s.name() == unknown
	for _, inner := range s.inner {
		if fetches(inner) && runsText {
			return denies(NetToShell, "network content is run as a program")
		}
		if f := judgeFlow(s, inner); f.set {
			return f
		}
	}
	if len(d.fetched) == 0 {
		return finding{}
	}
	var files []word
	if isInterpreter(s.name()) || hasWord("source .", s.name()) {
		files = operands(s)
	}
	if len(s.words) > 0 && strings.Contains(s.words[0].value, "/") {
		files = append(files, s.words[0])
	}
	if s.name() == "chmod" {
		files = append(files, operands(s)...)
	}
	for _, w := range files {
		names, _ := s.at.join(w.value)
		for _, name := range names {
			if d.fetched[name] {
				return denies(NetToShell, w.String()+" came from the network and would be run")
			}
		}
	}
	return finding{}
}

// noteFetched notes the files that a download writes.
func (d *denial) noteFetched(s simple) {
	var files []string
	for _, w := range filesWritten(s) {
		files = append(files, w.value)
	}
	if !fetches(s) {
		if hasWord("cp mv ln install", s.name()) {
			d.follow(s, files)
		}
		return
	}
	if s.name() == "wget" || s.name() == "curl" && hasFlag(s, "O", "--remote-name") {
		for _, w := range operands(s) {
			url, _, _ := strings.Cut(w.value, "?")
			files = append(files, path.Base(url))
		}
	}
	for _, f := range files {
		names, _ := s.at.join(f)
		for _, name := range names {
			d.fetched[name] = true
		}
	}
}

// follow notes the copies of fetched files.
func (d *denial) follow(s simple, to []string) {
	for _, w := range operands(s) {
		names, _ := s.at.join(w.value)
		for _, name := range names {
			if !d.fetched[name] {
				continue
			}
			for _, f := range to {
				copies, _ := s.at.join(f)
				for _, c := range copies {
					d.fetched[c] = true
				}
			}
			return
		}
	}
}

// exfiltrates finds DN7 in a single command.
func (d *denial) exfiltrates(s simple) finding {
	if !fetches(s) {
		return finding{}
	}
	deny := func(what string) finding {
		return denies(Exfil, s.name()+" would send "+what+" over the network")
	}
	for _, inner := range s.inner {
		if printsEnvironment(inner) {
			return deny("the environment")
		}
	}
	for _, w := range withoutCredentials(s, s.args()) {
		for _, v := range w.vars {
			if secretVariable(v) {
				return deny("the value of " + v)
			}
		}
		if d.secretArg(w, s.at) {
			return deny("the secret " + w.String())
		}
	}
	return finding{}
}

// printsEnvironment reports a command that prints the environment.
func printsEnvironment(s simple) bool {
	switch s.name() {
	case "printenv":
		return true
	case "env":
		return true // one with a command was unwrapped
	case "set":
		return len(s.argv) == 1
	case "export", "declare", "typeset", "readonly":
		for _, a := range s.argv[1:] {
			if !strings.HasPrefix(a, "-") {
				return false
			}
		}
		return true
	case "compgen":
		return true
	case "cat", "strings", "xxd", "base64", "od", "tr":
		return slices.ContainsFunc(s.argv[1:], isProcEnviron)
	}
	return false
}

func isProcEnviron(p string) bool {
	return strings.HasPrefix(p, "/proc/") && strings.HasSuffix(p, "/environ")
}

// secretVariable reports a variable that is likely to hold a secret.
func secretVariable(name string) bool {
	up := strings.ToUpper(name)
	for _, mark := range []string{"KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "OPENAI_", "ANTHROPIC_"} {
		if strings.Contains(up, mark) {
			return true
		}
	}
	return false
}
