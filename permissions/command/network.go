package command

import (
	"slices"
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

// fetches reports a command that brings content from the network.
func fetches(s simple) bool {
	switch s.name() {
	case "curl", "wget", "fetch", "aria2c", "http", "https", "httpie", "xh", "lynx", "links", "elinks", "w3m",
		"nc", "ncat", "netcat", "socat", "telnet", "ftp", "sftp", "tftp", "lftp", "scp", "rsync", "ssh", "dig", "nslookup", "host", "drill":
		return true
	case "openssl":
		return len(s.argv) > 1 && s.argv[1] == "s_client"
	case "gh", "glab":
		return len(s.argv) > 1 && (s.argv[1] == "api" || s.argv[1] == "gist")
	case "aws", "gsutil", "gcloud", "az":
		return true
	}
	return isInterpreter(s.name()) && slices.ContainsFunc(s.args(), func(w word) bool {
		return strings.Contains(w.value, "http://") || strings.Contains(w.value, "https://")
	})
}

// rawNetwork reports a program that turns a connection into its input and output.
func rawNetwork(s simple) bool {
	switch s.name() {
	case "nc", "ncat", "netcat", "socat", "telnet":
		return true
	case "openssl":
		return len(s.argv) > 1 && s.argv[1] == "s_client"
	}
	return false
}

// usesNetwork reports a command that is likely to need the network (S4).
func usesNetwork(s simple) bool {
	if len(s.argv) == 2 && hasWord("--version --help", s.argv[1]) {
		return false
	}
	if fetches(s) {
		return true
	}
	sub := subcommand(s)
	switch s.name() {
	case "git":
		return hasWord("clone fetch pull push ls-remote submodule remote-update archive send-email lfs", sub) ||
			sub == "remote" && (slices.Contains(s.argv, "update") || slices.Contains(s.argv, "show"))
	case "svn":
		return hasWord("checkout co update up commit ci export switch sw list ls log info cat", sub)
	case "hg":
		return hasWord("clone pull push incoming in outgoing out identify id", sub)
	case "npm", "pnpm", "yarn", "bun":
		return sub == "" && s.name() == "yarn" || hasWord("install i ci add update upgrade audit publish outdated exec dlx create init view info search login whoami x", sub)
	case "gh", "glab", "twine", "nmap", "npx", "pnpx", "bunx", "uvx", "pipx", "ping", "traceroute", "whois", "mosh", "helm", "terraform", "tofu", "kubectl", "heroku", "vercel", "fly", "flyctl", "rclone", "pacman", "dnf", "yum", "zypper", "apk", "snap", "flatpak", "winget", "choco":
		return true
	case "pip", "pip3", "uv", "poetry", "conda", "mamba", "pdm":
		return hasWord("install download add sync lock update upgrade publish search index create", sub)
	case "go":
		return hasWord("get install mod", sub) && !(sub == "mod" && len(s.argv) > 2 && hasWord("init edit", s.argv[2])) // which write go.mod alone
	case "cargo":
		return hasWord("install fetch update add search publish", sub)
	case "gem", "bundle", "bundler", "composer", "mvn", "gradle", "gradlew", "mvnw", "cpan", "cabal", "stack", "mix", "luarocks", "nuget", "rustup":
		return true
	case "dotnet":
		return hasWord("restore add tool nuget", sub)
	case "apt", "apt-get", "brew", "port":
		return hasWord("install update upgrade dist-upgrade full-upgrade fetch search", sub)
	case "docker", "podman", "nerdctl", "docker-compose":
		return hasWord("pull push build run compose login search up", sub)
	}
	return false
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
