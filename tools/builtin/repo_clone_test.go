package builtin_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

// gitHost answers for every repository as a git server does.
func gitHost(_ context.Context, r tools.Request) (*tools.Response, error) {
	return &tools.Response{URL: r.URL, Status: 200, ContentType: "application/x-git-upload-pack-advertisement"}, nil
}

// cloner is a runtime whose git knows HEAD and ends a clone as said.
func cloner(clone tooltest.Script) *tooltest.Runtime {
	rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{
		{Cmd: strings.Join(gitArgs("-C", "/scratch/ses_test/repo", "rev-parse", "--verify", "HEAD"), " "), Output: []string{commit + "\n"}},
		clone,
	}})
	rt.Web = tooltest.NetFunc(gitHost)
	return rt
}

// gitArgs are the arguments of git with what holds of every run.
func gitArgs(more ...string) []string {
	return append([]string{
		"git", "-c", "protocol.allow=never", "-c", "protocol.https.allow=always", "-c", "http.followRedirects=false",
		"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "credential.helper=", "-c", "submodule.recurse=false",
	}, more...)
}

func TestRepoClone(t *testing.T) {
	t.Parallel()
	rt := cloner(tooltest.Script{Output: []string{"Cloning into 'repo'...\n", "Receiving objects: 50%\r"}})
	result := run(t, rt, "repo_clone", map[string]any{"url": "https://example.com/owner/repo.git", "ref": "v1.0"})
	want := map[string]any{
		"url": "https://example.com/owner/repo.git", "path": "/scratch/ses_test/repo", "ref": "v1.0", "commit": commit,
	}
	if diff := cmp.Diff(want, data(t, result)); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]kinds.Content{kinds.Text{Text: "```\n" + result.ModelText() + "\n```"}}, result.Content); diff != "" {
		t.Errorf("card (-want +got):\n%s", diff)
	}
	programs := rt.Procs.Programs()
	args := gitArgs("clone", "--progress", "--depth=1", "--single-branch", "--no-tags", "--no-recurse-submodules", "--template=",
		"--branch=v1.0", "--", "https://example.com/owner/repo.git", "/scratch/ses_test/repo")
	if diff := cmp.Diff(args, programs[0].Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	for _, variable := range []string{"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_LFS_SKIP_SMUDGE=1"} {
		if !slices.Contains(programs[0].Env, variable) {
			t.Errorf("the environment lacks %s: %v", variable, programs[0].Env)
		}
	}
	if !strings.Contains(rt.Shown(), "Receiving objects") {
		t.Errorf("progress = %q", rt.Shown())
	}
}

func TestRepoClone_Refused(t *testing.T) {
	t.Parallel()
	const good = "https://example.com/owner/repo"
	tests := []struct {
		name    string
		args    map[string]any
		kind    tools.ErrorKind
		mention string
	}{
		{"plain http", map[string]any{"url": "http://example.com/o/r"}, tools.BadInput, "not an https URL"},
		{"ssh", map[string]any{"url": "git@example.com:o/r"}, tools.BadInput, "repo_clone: the URL"},
		{"ssh URL", map[string]any{"url": "ssh://example.com/o/r"}, tools.BadInput, "not an https URL"},
		{"file", map[string]any{"url": "file:///etc"}, tools.BadInput, "not an https URL"},
		{"program", map[string]any{"url": "ext::sh -c id"}, tools.BadInput, "not an https URL"},
		{"option", map[string]any{"url": "--upload-pack=id"}, tools.BadInput, "not an https URL"},
		{"empty", map[string]any{"url": ""}, tools.BadInput, "cannot be read"},
		{"long", map[string]any{"url": "https://example.com/" + strings.Repeat("a", 2048)}, tools.BadInput, "cannot be read"},
		{"password", map[string]any{"url": "https://me:secret@example.com/o/r"}, tools.BadInput, "a name or a password"},
		{"no host", map[string]any{"url": "https:///o/r"}, tools.BadInput, "names no host"},
		{"query", map[string]any{"url": good + "?x=1"}, tools.BadInput, "a query or a fragment"},
		{"no repository", map[string]any{"url": "https://example.com/"}, tools.BadInput, "names no repository"},
		{"name like an option", map[string]any{"url": "https://example.com/o/-r"}, tools.BadInput, "names no repository"},
		{"name of a parent", map[string]any{"url": "https://example.com/o/.."}, tools.BadInput, "names no repository"},
		{"ref like an option", map[string]any{"url": good, "ref": "--upload-pack=id"}, tools.BadInput, "no name of a branch"},
		{"outside", map[string]any{"url": good, "dir": "/etc/repo"}, tools.Denied, "outside the session's directories"},
		{"outside by a link", map[string]any{"url": good, "dir": "away/repo"}, tools.Denied, "outside the session's directories"},
		{"file there", map[string]any{"url": good, "dir": "full/file"}, tools.BadInput, "is a file"},
		{"not empty", map[string]any{"url": good, "dir": "full"}, tools.BadInput, "exists and is not empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := cloner(tooltest.Script{})
			rt.Mem.Put("full/file", "x")
			rt.Mem.Put("/away/x", "x")
			rt.Mem.Link("away", "/away")
			asked := false
			rt.Web = tooltest.NetFunc(func(ctx context.Context, r tools.Request) (*tools.Response, error) {
				asked = true
				return gitHost(ctx, r)
			})
			failure := fail(t, rt, "repo_clone", tt.args)
			if failure.Kind != tt.kind || !strings.Contains(failure.Error(), tt.mention) {
				t.Errorf("error = %s: %v; want %s with %q", failure.Kind, failure, tt.kind, tt.mention)
			}
			if asked || len(rt.Procs.Programs()) > 0 {
				t.Errorf("asked %v, ran %v", asked, rt.Procs.Programs())
			}
			if strings.Contains(failure.Error(), "secret") {
				t.Errorf("the error repeats the password: %v", failure)
			}
		})
	}
}

// What the guarded network says of a repository comes before git.
func TestRepoClone_Network(t *testing.T) {
	t.Parallel()
	const list = "https://example.com/owner/repo/info/refs?service=git-upload-pack"
	tests := []struct {
		name    string
		answer  *tools.Response
		err     error
		mention string // "" means that it is cloned
		from    string
	}{
		{"blocked", nil, tools.Errorf(tools.Denied, "a private address"), "a private address", ""},
		{"another host", &tools.Response{Redirect: "https://other.example/owner/repo/info/refs?service=git-upload-pack"}, nil, "has moved to another host: https://other.example/owner/repo", ""},
		{"not found", &tools.Response{URL: list, Status: 404}, nil, "no public repository", ""},
		{"asks for a password", &tools.Response{URL: list, Status: 401}, nil, "no public repository", ""},
		{"broken", &tools.Response{URL: list, Status: 502}, nil, "HTTP status 502", ""},
		{"page", &tools.Response{URL: list, Status: 200, ContentType: "text/html"}, nil, "no git repository", ""},
		{
			"moved within the host",
			&tools.Response{URL: strings.Replace(list, "owner", "owner2", 1), Status: 200, ContentType: "application/x-git-upload-pack-advertisement"},
			nil, "", "https://example.com/owner2/repo",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := cloner(tooltest.Script{})
			rt.Web = tooltest.NetFunc(func(_ context.Context, r tools.Request) (*tools.Response, error) {
				if r.URL != list {
					t.Errorf("asked for %s, want %s", r.URL, list)
				}
				return tt.answer, tt.err
			})
			args := map[string]any{"url": "https://example.com/owner/repo"}
			if tt.mention == "" {
				run(t, rt, "repo_clone", args)
				if got := rt.Procs.Programs()[0].Args; !slices.Contains(got, tt.from) {
					t.Errorf("arguments = %q, want %s among them", got, tt.from)
				}
				return
			}
			if failure := fail(t, rt, "repo_clone", args); !strings.Contains(failure.Error(), tt.mention) {
				t.Errorf("error = %v, want one with %q", failure, tt.mention)
			}
			if ran := rt.Procs.Programs(); len(ran) > 0 {
				t.Errorf("ran %v", ran)
			}
		})
	}
}

func TestRepoClone_Fails(t *testing.T) {
	t.Parallel()
	rt := cloner(tooltest.Script{Output: []string{"Receiving: 10%\rReceiving: 100%\n", "fatal: Remote branch x not found\n"}, ExitCode: 128})
	failure := fail(t, rt, "repo_clone", map[string]any{"url": "https://example.com/owner/repo"})
	if failure.Kind != tools.Backend || !strings.Contains(failure.Message, "exit code 128:\nReceiving: 100%\nfatal: Remote branch x not found") || !strings.Contains(failure.Detail, "Nothing is left") {
		t.Errorf("error = %v", failure)
	}
	rt = cloner(tooltest.Script{ExitCode: 1})
	rt.Procs = tooltest.NewProcesses(tooltest.Script{ExitCode: 1, Do: func(context.Context) { rt.Mem.Put("/scratch/ses_test/repo/x", "x") }})
	failure = fail(t, rt, "repo_clone", map[string]any{"url": "https://example.com/owner/repo"})
	if !strings.Contains(failure.Detail, "left with a part") {
		t.Errorf("detail = %q, want it to say what is left", failure.Detail)
	}
}

// Rules judge the host that is really asked, however it is written, and git is
// given that spelling.
func TestRepoClone_Resources(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, url, host, given string }{
		{"capitals, dot and port", "https://EXAMPLE.com.:443/o/repo", "example.com", "https://example.com/o/repo"},
		{"wide dots", "https://evil\uff0eexample\u3002com/o/repo.git", "evil.example.com", "https://evil.example.com/o/repo.git"},
		{"wide letters", "https://\uff45vil.example/o/repo", "evil.example", "https://evil.example/o/repo"},
		{"escaped", "https://evil%E3%80%82example/o/repo", "evil.example", "https://evil.example/o/repo"},
		{"another alphabet", "https://bücher.example/o/repo", "xn--bcher-kva.example", "https://xn--bcher-kva.example/o/repo"},
		{"mapped address", "https://[::ffff:10.0.0.1]/o/repo", "10.0.0.1", "https://10.0.0.1/o/repo"},
		{"long address", "https://[2001:DB8:0:0:0:0:0:1]:8443/o/repo/", "2001:db8::1", "https://[2001:db8::1]:8443/o/repo"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := cloner(tooltest.Script{})
			args := map[string]any{"url": tt.url, "dir": "sub"}
			want := []tools.Resource{{Kind: tools.Host, Value: tt.host}, {Kind: tools.PathWrite, Value: "/test-workspace/sub"}}
			if diff := cmp.Diff(want, tool(t, "repo_clone").Resources(tools.NewArgs(encode(t, args)), rt.Sess.Env)); diff != "" {
				t.Errorf("resources (-want +got):\n%s", diff)
			}
			run(t, rt, "repo_clone", map[string]any{"url": tt.url})
			if got := rt.Procs.Programs()[0].Args; !slices.Contains(got, tt.given) {
				t.Errorf("arguments %q, want %s among them", got, tt.given)
			}
		})
	}
	for _, url := range []string{"https://2130706433/o/r", "https://0x7f.1/o/r", "https://[fe80::1%25eth0]/o/r", "https://a..b/o/r"} {
		rt := cloner(tooltest.Script{})
		if failure := fail(t, rt, "repo_clone", map[string]any{"url": url}); failure.Kind != tools.BadInput || len(rt.Procs.Programs()) > 0 {
			t.Errorf("%s: %v", url, failure)
		}
	}
}

// The card names what is fetched and where it goes.
func TestRepoClone_Card(t *testing.T) {
	t.Parallel()
	rt := cloner(tooltest.Script{})
	tests := []struct{ name, args, want string }{
		{"default", `{"url":"https://Example.com/o/repo.git"}`, "Fetches\n\n```\nhttps://example.com/o/repo.git\n```\n\ninto the directory\n\n```\n/scratch/ses_test/repo\n```"},
		{
			"given", `{"url":"https://example.com/o/repo","dir":"sub/x","ref":"v1"}`,
			"Fetches\n\n```\nhttps://example.com/o/repo\nbranch or tag v1\n```\n\ninto the directory\n\n```\n/test-workspace/sub/x\n```",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			card, err := tool(t, "repo_clone").Preview(t.Context(), rt, tools.NewArgs(tt.args))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]kinds.Content{kinds.Text{Text: tt.want}}, card); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, args := range []string{`{"url":"https://me:pw@example.com/o/r"}`, `{"url":"https://example.com/o/r","ref":"a\nb"}`} {
		if card, err := tool(t, "repo_clone").Preview(t.Context(), rt, tools.NewArgs(args)); err == nil {
			t.Errorf("%s is asked about: %v", args, card)
		}
	}
}
