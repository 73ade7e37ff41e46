package command

import (
	"strings"
)

// isShell reports a program that runs shell programs.
func isShell(name string) bool {
	switch name {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "ksh93", "mksh", "fish", "csh", "tcsh", "rbash":
		return true
	}
	return false
}

// isInterpreter reports a program that runs code given as text, in a file or on its input.
func isInterpreter(name string) bool {
	if isShell(name) {
		return true
	}
	switch strings.TrimRight(name, "0123456789.") {
	case "python", "pypy", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit",
		"rscript", "pwsh", "powershell", "osascript", "tclsh", "wish", "expect", "groovy", "jshell", "ipython", "irb", "julia", "scala", "elixir", "iex", "erl", "ghci", "cscript", "wscript", "cmd":
		return true
	}
	return false
}

// readsProgram reports a command that reads its program from standard input.
func readsProgram(s simple) bool {
	args := s.args()
	switch s.name() {
	case "source", ".":
		return len(args) > 0 && (args[0].value == "/dev/stdin" || args[0].value == "-" || args[0].value == "/proc/self/fd/0" || args[0].value == "/dev/fd/0")
	case "at", "batch":
		return true
	}
	if !isInterpreter(s.name()) {
		return false
	}
	for i, w := range args {
		v := w.value
		switch {
		case v == "-" || v == "-s" || v == "/dev/stdin" || v == "/dev/fd/0" || v == "/proc/self/fd/0":
			return true
		case v == "--":
			return i+1 == len(args)
		case isShell(s.name()) && strings.HasPrefix(v, "-") && !strings.HasPrefix(v, "--") && strings.Contains(v, "s"):
			return true
		case isShell(s.name()) && (v == "--rcfile" || v == "--init-file" || v == "-O" || v == "-o"):
		case strings.HasPrefix(v, "-") && !strings.HasPrefix(v, "--") && strings.ContainsAny(v, "ecmrpn") && len(v) > 1:
			return false // -c text, -e text, -m module
		case strings.HasPrefix(v, "-"):
		case v == unknown:
			return true
		default:
			return false
		}
	}
	return true
}
