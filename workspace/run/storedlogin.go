package run

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"acp-agent/internal/egress"
	"acp-agent/internal/launch"
	"acp-agent/internal/textcut"
	"acp-agent/sandbox"
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

// GitHubHost is the only host whose token of gh's a command gets: gh sends a token for another host to any host that
// a command names.
const GitHubHost = "github.com"

// gitHubTokens are the variables that gh takes a token for [GitHubHost] from, the first one first.
var gitHubTokens = []string{"GH_TOKEN", "GITHUB_TOKEN"}

// gitHubRepository is the variable that names gh's repository.
const gitHubRepository = "GH_REPO"

// HasGitHubToken reports whether the user passes a token for gh to commands.
func (c *Commands) HasGitHubToken() bool {
	r := c.runner
	r.setUp.Do(func() { r.setUpCommands() })
	return slices.ContainsFunc(r.env, func(entry string) bool { return slices.Contains(gitHubTokens, nameOf(entry)) })
}

// PassedGitHubRepository returns the repository that the user's environment names to gh; "" where it names none.
func (c *Commands) PassedGitHubRepository() string {
	r := c.runner
	r.setUp.Do(func() { r.setUpCommands() })
	return variable(r.env, gitHubRepository)
}

// GitHubRepositoryEnv is the variable that makes a repository of [GitHubHost] the one that gh is for where its
// arguments name none, whatever the directory and its remotes are.
func GitHubRepositoryEnv(repository string) string {
	return gitHubRepository + "=" + GitHubHost + "/" + repository
}

// GitHubToken returns the token that the user's gh has, found as StoredLogin finds a login.
func (c *Commands) GitHubToken(ctx context.Context) (token string, err error) {
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
// logins, and returns what it prints; nothing when it fails. What commands can write is not there for it, since its settings
// name the programs that it starts, and neither it nor one of those is found there.
func (c *Commands) asUser(ctx context.Context, input string, argv ...string) (text string, err error) {
	r := c.runner
	request := sandbox.Request{Level: r.o.Sandbox.Level}
	r.addDirectories(&request, launch.Spec{}, Grant{})
	var earlier []string
	if r.o.Sandbox.Earlier != nil {
		earlier = r.o.Sandbox.Earlier()
	}
	policy, err := r.o.Sandbox.Box.Outside(ctx, request, earlier)
	if err != nil {
		return "", &egress.Refusal{Reason: err.Error()}
	}
	env, _ := launch.Env(r.o.Environ, launch.EnvOptions{
		Secrets: r.o.Secrets, Workspace: policy.Masked, Passed: loginEnv,
		Set: []string{"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never", "GH_PROMPT_DISABLED=1", "LC_ALL=C"},
	})
	path, ok := launch.FindProgram(argv[0], variable(env, "PATH"), policy.Masked)
	if !ok {
		return "", notFound(argv[0])
	}
	cmd := confined{grant: Grant{ReadsOnly: true}, clock: &clock{}, release: func() {}}
	cmd.Spec = launch.Spec{Argv: append([]string{path}, argv[1:]...), Dir: filepath.VolumeName(path) + string(filepath.Separator), Env: env}
	if cmd.Policy, err = policy.Encode(); err != nil {
		return "", &egress.Refusal{Reason: err.Error()}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, loginTimeout, tools.Errorf(tools.Timeout, "%s did not find a login within %v", argv[0], loginTimeout))
	defer cancel()
	out := textcut.NewHead(maxTail)
	exit, err := c.locally(ctx, cmd, launch.Streams{Input: []byte(input), Output: out, Errors: io.Discard})
	if err != nil || exit.Code != 0 || exit.Signal != "" || out.Cut() {
		return "", err
	}
	return string(out.Bytes()), nil
}

// UsesProxy reports whether the call's commands reach the network through a proxy of the agent, as far as was granted by now.
func (c *Commands) UsesProxy(ctx context.Context) bool { return c.runner.usesProxy(ctx, c.granted()) }
