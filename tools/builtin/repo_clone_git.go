package builtin

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"acp-agent/tools"
)

const (
	// gitSaid is how much of the end of git's output an error quotes, in bytes.
	gitSaid = 2 << 10
	// advertised is the end of the URL under which a repository lists its refs.
	advertised = "/info/refs?service=git-upload-pack"
	// refsBytes is how much of that list is read: enough to see that it is one.
	refsBytes = 4 << 10
)

// reachable asks for the repository through the guarded network and returns
// the URL to clone, which is another one after a redirect within the host.
func reachable(ctx context.Context, rt tools.Runtime, u *url.URL) (string, error) {
	base := strings.TrimRight(u.String(), "/")
	answer, err := rt.Net().Do(ctx, tools.Request{URL: base + advertised, MaxBytes: refsBytes})
	if err != nil {
		return "", err
	}
	if answer.Redirect != "" {
		return "", &tools.Error{
			Kind: tools.BadInput, Message: fmt.Sprintf("repo_clone: %s has moved to another host: %s", base, strings.TrimSuffix(answer.Redirect, advertised)),
			Hint: "Clone that URL if it is the one you want.",
		}
	}
	switch {
	case answer.Status == 401 || answer.Status == 403 || answer.Status == 404:
		return "", tools.Errorf(tools.BadInput, "repo_clone: %s is no public repository (HTTP status %d)", base, answer.Status)
	case answer.Status != 200:
		return "", tools.Errorf(tools.Backend, "repo_clone: %s answers with HTTP status %d", base, answer.Status)
	case !strings.HasPrefix(answer.ContentType, "application/x-git-upload-pack-advertisement"):
		return "", tools.Errorf(tools.BadInput, "repo_clone: %s is no git repository: it answers with %q", base, answer.ContentType)
	}
	if moved, found := strings.CutSuffix(answer.URL, advertised); found {
		if to, err := cloneURL(moved); err == nil && strings.EqualFold(to.Host, u.Host) {
			return strings.TrimRight(to.String(), "/"), nil
		}
	}
	return base, nil
}

// cloning is one run of git.
type cloning struct {
	rt            tools.Runtime
	url, dir, ref string
}

// gitOptions turn off all that a repository, or a configuration, could make git
// do besides fetching over https and writing files.
func gitOptions() []string {
	var args []string
	for _, setting := range []string{
		"protocol.allow=never", "protocol.https.allow=always", "http.followRedirects=false",
		"core.hooksPath=/dev/null", "core.fsmonitor=false", "credential.helper=", "submodule.recurse=false",
	} {
		args = append(args, "-c", setting)
	}
	return args
}

// gitEnv keeps git from asking the user, and from configuration. git takes
// /dev/null for an empty file on every system.
func gitEnv() []string {
	return []string{
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_LFS_SKIP_SMUDGE=1", "GIT_PROTOCOL_FROM_USER=0",
	}
}

func (c *cloning) args() []string {
	args := append([]string{"git"}, gitOptions()...)
	args = append(args, "clone", "--progress", "--depth=1", "--single-branch", "--no-tags", "--no-recurse-submodules", "--template=")
	if c.ref != "" {
		args = append(args, "--branch="+c.ref)
	}
	return append(args, "--", c.url, c.dir)
}

func (c *cloning) program(args []string) tools.Program {
	return tools.Program{Args: args, Dir: c.rt.Session().Scratch, Env: gitEnv()}
}

func (c *cloning) clone(ctx context.Context) error {
	said := &gitOutput{show: c.rt.Progress}
	exit, err := c.rt.Processes().Exec(ctx, c.program(c.args()), said)
	switch {
	case err != nil:
		return err
	case exit.Code == 0 && exit.Signal == "":
		return nil
	}
	how := fmt.Sprintf("exit code %d", exit.Code)
	if exit.Signal != "" {
		how = "signal " + exit.Signal
	}
	return &tools.Error{
		Kind: tools.Backend, Path: c.dir, Message: fmt.Sprintf("repo_clone: git ended with %s:\n%s", how, said.text()), Detail: c.left(ctx),
	}
}

// left says what a clone that failed has left behind: git takes away what it
// made, and nothing is taken away here.
func (c *cloning) left(ctx context.Context) string {
	if entries, _, err := c.rt.FS().List(ctx, c.dir, 1); err == nil && len(entries) > 0 {
		return c.dir + " is left with a part of the repository."
	}
	return "Nothing is left of it."
}

// commit is what is checked out, "" when git does not say.
func (c *cloning) commit(ctx context.Context) string {
	said := &gitOutput{}
	args := append(append([]string{"git"}, gitOptions()...), "-C", c.dir, "rev-parse", "--verify", "HEAD")
	exit, err := c.rt.Processes().Exec(ctx, c.program(args), said)
	commit := strings.TrimSpace(said.text())
	if err != nil || exit.Code != 0 || len(commit) < 40 || strings.Trim(commit, "0123456789abcdef") != "" {
		return ""
	}
	return commit
}

// gitOutput shows what git says as it comes, and keeps its end.
type gitOutput struct {
	show func([]byte) // nil shows nothing

	mu   sync.Mutex
	tail []byte
}

// Write takes a piece of the output. It never fails.
func (o *gitOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.show != nil {
		o.show(p)
	}
	o.tail = append(o.tail, p...)
	if over := len(o.tail) - gitSaid; over > 0 {
		o.tail = append(o.tail[:0], o.tail[over:]...)
	}
	return len(p), nil
}

// text is the end of the output, without the lines of progress that others
// followed.
func (o *gitOutput) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var lines []string
	for line := range strings.SplitSeq(string(o.tail), "\n") {
		line = line[strings.LastIndexByte(strings.TrimRight(line, "\r"), '\r')+1:]
		if line = strings.TrimSpace(cleanOutput(line)); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
