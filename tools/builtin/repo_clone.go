package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"

	"acp-agent/capability"
	"acp-agent/internal/network"
	"acp-agent/internal/pathname"
	"acp-agent/kinds"
	"acp-agent/tools"
)

//go:embed repo_clone.md
var repoClonePrompt string

type repoCloneArgs struct {
	URL string `json:"url"`
	Dir string `json:"dir"`
	Ref string `json:"ref"`
}

// cloneData is the data of a clone. Path is absolute, Commit is what is checked
// out.
type cloneData struct {
	URL    string `json:"url"`
	Path   string `json:"path"`
	Ref    string `json:"ref,omitempty"`
	Commit string `json:"commit,omitempty"`
}

// newRepoClone is the tool that fetches a repository (R98). It runs git by its
// arguments (C10), over https alone, without the user's git configuration and
// credentials, prompts, hooks, submodules and filters.
//
// What guards the network: the host is judged by the rules as web_fetch's is,
// and the repository is asked for once through [tools.Net] before git starts, so
// that an address which is private or otherwise blocked is refused with no
// connection made, and a redirect to another host is reported and not followed.
// git then makes connections of its own, which follow no redirect. They are not
// guarded: a name that leads elsewhere a moment later is not noticed.
func newRepoClone() tools.Tool {
	return tools.Define(tools.Spec{
		ID:          "repo_clone",
		Description: prompt(repoClonePrompt),
		Kind:        kinds.Fetch,
		Label:       "Clone repository",
		Describe:    argumentTitle("Clone", "url"),
		Default:     capability.AskAlways,
		Parameters: object(
			text("url", "https URL of the repository."),
			text("dir?", "Absolute path of the directory to make."),
			text("ref?", "Branch or tag. Default: the repository's own."),
		),
		Requires: capability.RequirementSet{
			FS:  capability.FS{Read: []string{workspaceScope, adHocScope}, Write: []string{workspaceScope, adHocScope}},
			Net: capability.Net{Hosts: []string{"*"}}, Capabilities: []string{capability.CapShellRun},
		},
		Renames: map[string]string{"branch": "ref", "path": "dir"},
		Preprocess: func(args map[string]any, env tools.Env) error {
			rewriteText(args, "dir", env.Abs)
			return nil
		},
		Resources: cloneResources,
		Profile:   &tools.Profile{Keys: cloneKeys},
		Preview:   tools.Previewing("repo_clone", previewClone),
	}, repoClone)
}

// cloneResources are the host and the directory. The default directory is the
// session's own and needs no leave.
func cloneResources(args tools.Args, env tools.Env) []tools.Resource {
	a, err := tools.Decode[repoCloneArgs](context.Background(), args)
	if err != nil {
		return nil
	}
	var resources []tools.Resource
	if u, err := cloneURL(a.URL); err == nil {
		resources = append(resources, tools.Resource{Kind: tools.Host, Value: u.Hostname()})
	}
	if a.Dir != "" {
		resources = append(resources, tools.Resource{Kind: tools.PathWrite, Value: env.Abs(a.Dir)})
	}
	return resources
}

func cloneKeys(args tools.Args, env tools.Env) []tools.ResourceKey {
	a, err := tools.Decode[repoCloneArgs](context.Background(), args)
	if err != nil {
		return nil
	}
	if a.Dir == "" {
		// Repositories of one name share the default directory.
		name := a.URL // one that is refused
		if u, err := cloneURL(a.URL); err == nil {
			name = cloneName(u)
		}
		return []tools.ResourceKey{{Key: "clone " + name, Write: true}}
	}
	key := env.Key(a.Dir, true)
	key.Tree = true
	return []tools.ResourceKey{key}
}

// maxCloneURL bounds a URL, in bytes (N1).
const maxCloneURL = 2048

// cloneURL takes only what names a public repository and nothing else. It is in
// the normal form in which rules judge its host, and in which git is given it.
func cloneURL(text string) (*url.URL, error) {
	refuse := func(reason string) (*url.URL, error) {
		// What stands before "@" may be a password.
		return nil, tools.Errorf(tools.BadInput, "repo_clone: the URL %.200q %s", text[strings.LastIndexByte(text, '@')+1:], reason)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || text == "" || len(text) > maxCloneURL:
		return refuse("cannot be read")
	case u.Scheme != "https":
		return refuse("is not an https URL: other ways of fetching would ask for credentials, or leave the connection open to others")
	case u.User != nil:
		return refuse("holds a name or a password: only public repositories can be cloned")
	case u.Hostname() == "":
		return refuse("names no host")
	case u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" || u.ForceQuery:
		return refuse("has a query or a fragment: give that of the repository alone, and the branch as ref")
	case cloneName(u) == "":
		return refuse("names no repository")
	}
	target, err := network.Parse(text)
	if blocked, ok := errors.AsType[*network.BlockedError](err); ok {
		return refuse("cannot be asked for: " + blocked.Reason)
	}
	if u, err = url.Parse(target.String()); err != nil {
		return refuse("cannot be read")
	}
	return u, nil
}

// cloneName is the name of the repository, "" when it has none that is fit for
// a directory.
func cloneName(u *url.URL) string {
	path := strings.TrimRight(u.Path, "/")
	name := strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".git")
	for _, r := range name {
		if r < '0' && r != '-' && r != '.' && r != '+' || r == '\\' || r == ':' || r == '<' || r == '>' || r == '?' || r == '|' || r == 0x7f {
			return ""
		}
	}
	if strings.HasPrefix(name, "-") || strings.HasPrefix(name, ".") || len(name) > 100 {
		return ""
	}
	return name
}

func repoClone(ctx context.Context, rt tools.Runtime, a repoCloneArgs) (*tools.Result, error) {
	u, err := a.source()
	if err != nil {
		return nil, err
	}
	dir := a.target(rt, u)
	if err := cloneTarget(ctx, rt, dir); err != nil {
		return nil, err
	}
	base, err := reachable(ctx, rt, u)
	if err != nil {
		return nil, err
	}
	c := cloning{rt: rt, url: base, dir: dir, ref: a.Ref}
	if err := c.clone(ctx); err != nil {
		return nil, err
	}
	return c.result(ctx, u.String()), nil
}

// source is the repository, once its URL and the ref are found to be such.
func (a repoCloneArgs) source() (*url.URL, error) {
	if strings.HasPrefix(a.Ref, "-") || strings.ContainsFunc(a.Ref, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return nil, tools.Errorf(tools.BadInput, "repo_clone: %q is no name of a branch or tag", a.Ref)
	}
	return cloneURL(a.URL)
}

// target is the directory to make.
func (a repoCloneArgs) target(rt tools.Runtime, u *url.URL) string {
	session := rt.Session()
	if a.Dir == "" {
		return session.Abs(filepath.Join(session.Scratch, cloneName(u)))
	}
	return session.Abs(a.Dir)
}

// previewClone names what is fetched and where it goes, as git is given both.
func previewClone(_ context.Context, rt tools.Runtime, a repoCloneArgs) ([]kinds.Content, error) {
	u, err := a.source()
	if err != nil {
		return nil, err
	}
	what := u.String()
	if a.Ref != "" {
		what += "\nbranch or tag " + a.Ref
	}
	return []kinds.Content{kinds.Text{Text: fmt.Sprintf("Fetches\n\n%s\n\ninto the directory\n\n%s",
		kinds.Fence("", kinds.Visible(what)), kinds.Fence("", kinds.Visible(a.target(rt, u))))}}, nil
}

// cloneTarget refuses a directory outside the session's, and one that holds
// anything.
func cloneTarget(ctx context.Context, rt tools.Runtime, dir string) error {
	session := rt.Session()
	real := dir
	if session.Resolve != nil {
		real = session.Resolve(dir)
	}
	if pathname.Innermost(session.Roots, real) == "" && (!pathname.Contains(session.Scratch, real)) {
		return &tools.Error{
			Kind: tools.Denied, Path: dir, DeniedBy: tools.DeniedByCapability,
			Message: fmt.Sprintf("repo_clone: %s is outside the session's directories", dir), Hint: "Leave dir out to clone into the scratch directory.",
		}
	}
	info, err := rt.FS().Stat(ctx, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fileFailure("clone to", dir, err)
	case !info.IsDir:
		return tools.Errorf(tools.BadInput, "repo_clone: %s is a file", dir)
	}
	entries, _, err := rt.FS().List(ctx, dir, 1)
	if err != nil {
		return fileFailure("clone to", dir, err)
	}
	if len(entries) > 0 {
		return &tools.Error{
			Kind: tools.BadInput, Path: dir, Message: fmt.Sprintf("repo_clone: %s exists and is not empty", dir),
			Hint: "If it is the same repository, use what is there; else give another dir.",
		}
	}
	return nil
}

func (c *cloning) result(ctx context.Context, asked string) *tools.Result {
	data := cloneData{URL: asked, Path: c.dir, Ref: c.ref, Commit: c.commit(ctx)}
	result := tools.Output(data)
	result.Text = fmt.Sprintf("Cloned %s to %s", asked, c.dir)
	if data.Commit != "" {
		result.Text += ", commit " + data.Commit
	}
	result.Text += "\nIt is not trusted: read it, and be careful with running what is in it."
	result.Content = textCard(result.Text)
	result.Locations = []kinds.Location{{Path: c.dir}}
	return result
}
