package run

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"time"

	"acp-agent/internal/egress"
	"acp-agent/internal/launch"
	"acp-agent/internal/textcut"
	"acp-agent/tools"
)

// loginTimeout bounds the time in which git has to find a login.
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
	r := c.runner
	env, _ := launch.Env(r.o.Environ, launch.EnvOptions{
		Secrets: r.o.Secrets, Workspace: r.writable(), Passed: loginEnv,
		Set: []string{"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never", "LC_ALL=C"},
	})
	git, ok := r.lookPath("git", env)
	if !ok {
		return egress.Login{}, notFound("git")
	}
	root := filepath.VolumeName(git) + string(filepath.Separator)
	spec := launch.Spec{Argv: []string{git, "credential", "fill"}, Dir: root, Env: env}
	cmd, err := r.confine(ctx, spec, Grant{Unconfined: true, ReadsOnly: true})
	if err != nil {
		return egress.Login{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, loginTimeout, tools.Errorf(tools.Timeout, "git did not find a login within %v", loginTimeout))
	defer cancel()
	out := textcut.NewTail(maxTail)
	exit, err := c.locally(ctx, cmd, launch.Streams{Input: []byte(want.Request()), Output: out, Errors: io.Discard})
	if err != nil {
		return egress.Login{}, err
	}
	login, err := egress.ParseLogin(strings.NewReader(out.String()))
	if exit.Code != 0 || err != nil || login.Password == "" || login.To != want.To {
		return egress.Login{}, &egress.Refusal{Reason: "the user's git has stored none"}
	}
	return login, nil
}
