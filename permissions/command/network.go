package command

import (
	"slices"
	"strings"
)

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

// networkNotSandboxable says why a command that uses the network asks before it runs. Empty: the user is asked
// about each host when the command connects to it.
func (j *judge) networkNotSandboxable(words []word, u unwrapped, s simple) string {
	switch {
	case j.env.ByHost == nil || !byProxy(s):
		return s.name() + " uses the network"
	case publishes(s):
		return s.name() + " " + subcommand(s) + " publishes what others will see"
	case s.name() == "gh" && (len(words) != len(u.words) || u.appends || !readsGitHub(s)):
		return strings.TrimSuffix("gh "+subcommand(s), " ") + " is not known to only ask GitHub"
	case !j.env.ByHost():
		return s.name() + " uses the network"
	}
	return ""
}

// byProxy reports a program that reaches the network through a proxy, works without the keys of the user, which
// the sandbox hides, or with a login that is asked about, and writes what it fetches where it is told. A package manager that fills a cache of
// the user is not one.
func byProxy(s simple) bool {
	return isInterpreter(s.name()) || hasWord("curl wget http https httpie xh aria2c git npm pnpm yarn bun npx pnpx bunx "+
		"pip pip3 uv uvx poetry pdm pipx conda mamba composer gh", s.name())
}

// publishes reports a command that sends work to where others see it.
func publishes(s simple) bool {
	switch s.name() {
	case "git":
		return hasWord("push send-email lfs", subcommand(s))
	case "npm", "pnpm", "yarn", "bun", "poetry", "pdm", "uv", "conda":
		for _, w := range s.args() {
			if w.value == subcommand(s) && !w.static {
				return true // it may be one of those below
			}
		}
		return hasWord("publish unpublish deprecate dist-tag owner access login logout adduser token team upload", subcommand(s))
	}
	return false
}
