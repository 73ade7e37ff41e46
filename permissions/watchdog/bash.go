package watchdog

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/internal/pathname"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
)

// bash is the reference policy (R121).
func bash(call Call) permissions.Decision {
	answer := allow()
	for _, r := range call.Resources {
		if r.Kind == permissions.Path && r.Capability == capability.CapFSWrite {
			answer = worse(answer, call.written(r.Name))
		}
	}
	for _, c := range call.Commands {
		for _, part := range command.Judge(c.Text, c.Env).Parts {
			answer = worse(answer, call.part(part))
		}
	}
	return answer
}

// part judges one simple command or redirection.
func (c Call) part(p command.Part) permissions.Decision {
	answer := allow()
	switch {
	case p.Class == command.Privilege:
		answer = ask("the command changes privileges: " + p.Text)
	case p.Action == capability.Deny:
		return deny(p.Reason)
	case p.Network:
		answer = ask("the command reaches the network: " + p.Text)
	case opaque(p):
		answer = ask("it is not known before it runs what the command does: " + p.Text)
	}
	for _, name := range p.Wrote {
		answer = worse(answer, c.written(name))
	}
	if p.Class == command.ReadOnly {
		return answer
	}
	return worse(answer, c.operands(p))
}

// operands judges the places that a command which does not only read names, whatever
// it does with them. It destroys them when its program is known for that.
func (c Call) operands(p command.Part) permissions.Decision {
	at := slices.IndexFunc(p.Argv, func(word string) bool { return destroys(path.Base(word)) })
	answer := allow()
	for i, word := range p.Argv {
		_, value, assigned := strings.Cut(word, "=")
		if !assigned {
			value = word
		}
		if i == 0 || !filepath.IsAbs(value) && !strings.HasPrefix(value, "/") || c.inside(value) || harmless(value) {
			continue
		}
		if at >= 0 && i > at && system(value) {
			return deny(p.Argv[at] + " would change " + value + ", which belongs to the system")
		}
		answer = worse(answer, ask("the command names "+value+", which is outside the session's directories"))
	}
	return answer
}

// written judges a path that is changed.
func (c Call) written(name string) permissions.Decision {
	switch {
	case c.inside(name), harmless(name):
		return allow()
	case system(name):
		return deny(name + " would be changed, which belongs to the system")
	}
	return ask(name + " would be changed, which is outside the session's directories")
}

// inside reports a path in one of the session's directories.
func (c Call) inside(name string) bool {
	for _, dir := range append(slices.Clone(c.Roots), c.Scratch) {
		if pathname.Contains(dir, name) {
			return true
		}
	}
	return false
}

// destroys reports a program whose operands are lost, or changed.
func destroys(program string) bool {
	return slices.Contains([]string{
		"rm", "rmdir", "unlink", "shred", "truncate", "mv", "dd", "chmod", "chown", "chgrp", "chattr", "ln", "tee",
		"cp", "install", "touch", "mkdir", "sed", "rsync", "find", "tar", "unzip", "srm",
	}, program)
}

// harmless reports devices that hold nothing.
func harmless(name string) bool {
	return slices.Contains([]string{"/dev/null", "/dev/zero", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"}, name)
}

// system reports a place that the machine needs, by its name.
func system(name string) bool {
	parts := strings.Split(strings.Trim(filepath.ToSlash(filepath.Clean(name)), "/"), "/")
	if strings.HasSuffix(parts[0], ":") { // a Windows drive
		return len(parts) == 1 || slices.Contains([]string{"windows", "program files", "program files (x86)", "programdata"}, strings.ToLower(parts[1]))
	}
	switch parts[0] {
	case "", "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "opt", "proc", "root", "run", "sbin", "sys", "usr",
		"System", "Library", "Applications":
		return true
	case "var":
		return len(parts) == 1 || parts[1] != "tmp" && parts[1] != "folders"
	case "home", "Users":
		return len(parts) <= 2
	}
	return false
}
