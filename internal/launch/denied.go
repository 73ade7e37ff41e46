package launch

import (
	"slices"
	"strings"
)

// deniedName reports whether a variable is dropped for its name alone. Names
// are compared without regard to case: a secret in lower case is one too.
func deniedName(name string) bool {
	name = strings.ToUpper(name)
	if slices.Contains(keptNames(), name) {
		return false
	}
	for _, part := range secretParts() {
		if strings.Contains(name, part) {
			return true
		}
	}
	for _, suffix := range []string{"_PASS", "_PWD", "_PAT", "_AUTH", "_DSN"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	for _, prefix := range deniedPrefixes() {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	if strings.HasPrefix(name, "PYTHON") && strings.HasSuffix(name, "PATH") {
		return true
	}
	return slices.Contains(slices.Concat(readingNames(), loaderNames(), outsideNames(), noiseNames()), name)
}

// Passable reports whether a variable may reach commands because the user names it
// ([EnvOptions].Passed). A variable may not when it changes what a shell or git makes of the
// judged text, or loads code into every program, such as the helper and the sandbox.
func Passable(name string) bool {
	name = strings.ToUpper(name)
	if slices.Contains(keptNames(), name) {
		return true
	}
	for _, prefix := range []string{"LD_", "DYLD_", "BASH_FUNC_", "GIT_"} {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	return !slices.Contains(readingNames(), name) && name != cookieName && name != "PATH"
}

// keptNames are git's variables that carry data and run nothing.
func keptNames() []string {
	return []string{
		"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE",
		"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
		"GIT_CEILING_DIRECTORIES", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT",
		"GIT_CONFIG_NOSYSTEM", "GIT_MERGE_AUTOEDIT",
	}
}

// secretParts make a name the name of a secret, or of a program that asks for one.
func secretParts() []string {
	return []string{
		"KEY", "TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "ASKPASS",
		"COOKIE", "_AUTH_",
	}
}

// deniedPrefixes are families of which no member is wanted.
func deniedPrefixes() []string {
	return []string{
		"OPENAI_", "ANTHROPIC_",
		"LD_", "DYLD_", // libraries loaded into every program
		"BASH_FUNC_",                // functions that replace commands
		"GIT_",                      // see keptNames
		"PERL5",                     // modules loaded into every script
		"VSCODE_IPC_", "VSCODE_GIT", // remote control of the editor
		"ZELLIJ",
	}
}

// readingNames change how a shell reads the text that was judged, or have the C library
// load something into every program.
func readingNames() []string {
	return []string{
		"BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "BASH_COMPAT", "POSIXLY_CORRECT", "BASH_XTRACEFD",
		"PS4", "CDPATH", "GLOBIGNORE", "IFS", "EXECIGNORE", "GCONV_PATH",
	}
}

// loaderNames make a program load or run something it was not asked for.
func loaderNames() []string {
	return []string{
		"NODE_OPTIONS", "NODE_PATH", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONINSPECT",
		"PERLLIB", "PERL_UNICODE", "RUBYOPT", "RUBYLIB", "LUA_INIT",
		"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS",
		"LESSOPEN", "LESSCLOSE",
	}
}

// outsideNames lead to agents, daemons and multiplexers that act, or run
// programs, outside the command's tree and sandbox (S6).
func outsideNames() []string {
	return []string{
		"SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_AGENT_LAUNCHER", "GPG_AGENT_INFO",
		"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY",
		"CONTAINER_HOST", "CONTAINERD_ADDRESS", "BUILDKIT_HOST",
		"DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DBUS_STARTER_ADDRESS",
		// The directory of all of these: libraries look there unasked.
		"XDG_RUNTIME_DIR",
		"TMUX", "TMUX_PANE", "STY", "KITTY_LISTEN_ON", "WEZTERM_UNIX_SOCKET", "ALACRITTY_SOCKET",
		"NVIM", "NVIM_LISTEN_ADDRESS", "I3SOCK", "SWAYSOCK", "XAUTHORITY",
	}
}

// noiseNames force colour into output that a model reads, or carry state from
// one command to the next.
func noiseNames() []string {
	return []string{
		"FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "COLORTERM", "GREP_OPTIONS",
		"OLDPWD", "_", cookieName,
	}
}
