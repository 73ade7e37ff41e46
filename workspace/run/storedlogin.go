package run

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"acp-agent/internal/egress"
	"acp-agent/internal/launch"
	"acp-agent/internal/pathname"
	"acp-agent/internal/textcut"
	"acp-agent/tools"
)

// loginTimeout bounds the time in which a program has to find a login.
const loginTimeout = 15 * time.Second

// loginEnv are the variables that lead credential helpers to where they keep logins; commands have none of
// them.
var loginEnv = []string{
	"DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "GPG_AGENT_INFO", "GNUPGHOME", "PASSWORD_STORE_DIR",
	"GH_TOKEN", "GITHUB_TOKEN", "GITLAB_TOKEN", "GCM_CREDENTIAL_STORE", "GCM_CREDENTIAL_CACHE_OPTIONS",
}

// StoredLogin returns the login that the user's git has for a host. Git runs outside of the sandbox and of
// every project, with the user's own settings alone, and asks nothing of the user. A *egress.Refusal says that it
// has none.
func (c *Commands) StoredLogin(ctx context.Context, want egress.Login) (egress.Login, error) {
	settings, err := c.asUser(ctx, "", "git", "config", "--null", "--show-origin", "--list")
	if err == nil {
		err = c.settingsOutside(settings)
	}
	if err != nil {
		return egress.Login{}, err
	}
	text, err := c.asUser(ctx, want.Request(), "git", "credential", "fill")
	if err != nil {
		return egress.Login{}, err
	}
	login, err := egress.ParseLogin(strings.NewReader(text))
	other := login.To != want.To || login.Scheme != want.Scheme || want.User != "" && login.User != want.User
	if err != nil || login.Password == "" || other {
		return egress.Login{}, &egress.Refusal{Reason: "the user's git has stored none"}
	}
	return login, nil
}

// settingsOutside refuses settings of git, with their origins, that commands could change: they would choose the program
// that runs outside of the sandbox.
func (c *Commands) settingsOutside(settings string) error {
	fields := strings.Split(settings, "\x00")
	for i := 0; i+1 < len(fields); i += 2 { // the origin, and the setting with its value in the next line
		named := []string{strings.TrimPrefix(fields[i], "file:")}
		name, value, _ := strings.Cut(fields[i+1], "\n")
		value = c.expandHome(value)
		helper := strings.HasPrefix(name, "credential.")
		if helper || strings.HasPrefix(name, "include") {
			named = append(named, strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;|&()<>=!:,", r) })...)
		}
		names := helper && slices.ContainsFunc(c.runner.writable(), func(dir string) bool { return strings.Contains(value, dir) })
		for _, path := range named {
			// Where a shell looks for it depends on other words, or on variables.
			relative := helper && strings.HasPrefix(value, "!") && strings.Contains(path, "/") && path[0] != '/'
			if names || relative || c.writable(path) {
				return &egress.Refusal{Reason: "the settings of the user's git name " + path + ", which commands may be able to write"}
			}
		}
	}
	return nil
}

// expandHome writes out the user's home directory as settings name it.
func (c *Commands) expandHome(text string) string {
	home := variable(c.runner.o.Environ, "HOME") + "/"
	return strings.NewReplacer("~/", home, "$HOME/", home, "${HOME}/", home).Replace(text)
}

// writable reports whether a path that settings name lies in a directory that commands write in.
func (c *Commands) writable(path string) bool {
	path = c.expandHome(path)
	if !filepath.IsAbs(path) {
		return false // it is a name to look for on the PATH, of which no entry can be written
	}
	real := ""
	for dir := filepath.Clean(path); real == "" && dir != filepath.Dir(dir); dir = filepath.Dir(dir) { // the end may not be there yet
		real, _ = filepath.EvalSymlinks(dir)
	}
	return slices.ContainsFunc(c.runner.writable(), func(dir string) bool {
		return pathname.Contains(dir, filepath.Clean(path)) || pathname.Contains(dir, real)
	})
}

// GitHubHost is the only host whose token of gh's a command gets: gh sends a token for another host to any host that
// a command names.
const GitHubHost = "github.com"

// gitHubTokens are the variables that gh takes a token for [GitHubHost] from, the first one first.
var gitHubTokens = []string{"GH_TOKEN", "GITHUB_TOKEN"}

// HasGitHubToken reports whether the user passes a token for gh to commands.
func (c *Commands) HasGitHubToken() bool {
	r := c.runner
	r.setUp.Do(func() { r.setUpCommands() })
	return slices.ContainsFunc(r.env, func(entry string) bool { return slices.Contains(gitHubTokens, nameOf(entry)) })
}

// GitHubToken returns the token that the user's gh has, found as StoredLogin finds a login.
func (c *Commands) GitHubToken(ctx context.Context) (token string, err error) {
	settings := variable(c.runner.o.Environ, "GH_CONFIG_DIR")
	if settings == "" {
		settings = filepath.Join(cmp.Or(variable(c.runner.o.Environ, "XDG_CONFIG_HOME"), "~/.config"), "gh")
	}
	if c.writable(settings) {
		return "", &egress.Refusal{Reason: "commands can write the settings of the user's gh"}
	}
	text, err := c.asUser(ctx, "", "gh", "auth", "token", "--hostname", GitHubHost)
	if err != nil {
		return "", err
	}
	if token = strings.TrimSpace(text); token == "" || strings.ContainsAny(token, " \n\x00") {
		return "", &egress.Refusal{Reason: "the user's gh is not logged in there"}
	}
	return token, nil
}

// GitHubEnv returns the variables that give gh a token, and keep it from the programs and the socket that its settings could
// name. The git that gh starts connects to nothing: a repository may name the program by which it would.
func GitHubEnv(token string) []string {
	return []string{
		gitHubTokens[0] + "=" + token, "GH_CONFIG_DIR=/proc/none",
		"XDG_DATA_HOME=/proc/none", "GH_PAGER=cat", "GH_BROWSER=true", "BROWSER=true", "GH_FORCE_TTY=", "GH_HOST=", "GH_DEBUG=", "DEBUG=",
		"GIT_ALLOW_PROTOCOL=none",
	}
}

// asUser runs a program of the user's outside of the sandbox, in the root directory, with the variables that lead to
// logins, and returns what it prints; nothing when it fails.
func (c *Commands) asUser(ctx context.Context, input string, argv ...string) (text string, err error) {
	r := c.runner
	env, _ := launch.Env(r.o.Environ, launch.EnvOptions{
		Secrets: r.o.Secrets, Workspace: r.writable(), Passed: loginEnv,
		Set: []string{"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never", "GH_PROMPT_DISABLED=1", "LC_ALL=C"},
	})
	path, ok := r.lookPath(argv[0], env)
	if !ok {
		return "", notFound(argv[0])
	}
	root := filepath.VolumeName(path) + string(filepath.Separator)
	cmd, err := r.confine(ctx, launch.Spec{Argv: append([]string{path}, argv[1:]...), Dir: root, Env: env}, Grant{Unconfined: true, ReadsOnly: true})
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, loginTimeout, tools.Errorf(tools.Timeout, "%s did not find a login within %v", argv[0], loginTimeout))
	defer cancel()
	out := textcut.NewTail(maxTail)
	exit, err := c.locally(ctx, cmd, launch.Streams{Input: []byte(input), Output: out, Errors: io.Discard})
	if err != nil || exit.Code != 0 {
		return "", err
	}
	return out.String(), nil
}

// UsesProxy reports whether the call's commands reach the network through a proxy of the agent, as far as was granted by now.
func (c *Commands) UsesProxy(ctx context.Context) bool { return c.runner.usesProxy(ctx, c.granted()) }
