//go:build unix

package interop

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/testfile"
	"acp-agent/mcp"
)

// serverPackages are where npm puts the reference servers of MCP.
const serverPackages = "node_modules/@modelcontextprotocol"

// A reference server in one run: how the agent reaches it, and how its tools are called.
type interopServer struct {
	name string
	// configured is how a file of configuration names it. In the session it is the editor
	// that names it, as offered; nil leaves that to the configuration as well.
	configured, offered any
	calls               map[string]foreignCall
	// level is that of the sandbox.
	level string
}

// foreignCall is one call of a server's tool.
type foreignCall struct {
	// args are the arguments, as JSON, in which $DIR is the directory of the test.
	args string
	// want is a part of what the model reads, in which $DIR is the same.
	want string
	// images are how many the model sees.
	images int
	// fails says that the call fails, with what is wanted.
	fails bool
	// asks says that the server has the tool only for a client that can be asked something,
	// which the command that lists is none.
	asks bool
}

// serverPath returns the program of a reference server.
func serverPath(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(interopDir, serverPackages, name, "dist", "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// packagesPath is where the servers, and all that they load, lie: a sandbox may hide it,
// for a checkout may lie in a temporary directory.
func packagesPath(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(interopDir, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// interopServersRun is a session with one reference server.
type interopServersRun struct {
	*interopRun
	server interopServer
	dir    string
	// What the server calls its tools, including tools that ask, and its prompts.
	tools, prompts []string
}

func (r *interopServersRun) id(tool string) string { return "mcp__" + r.server.name + "__" + tool }

func (r *interopServersRun) inDir(text string) string { return strings.ReplaceAll(text, "$DIR", r.dir) }

// newServersRun prepares a session with a server. dir is its project.
func newServersRun(t *testing.T, binary string, prepare func(t *testing.T, dir string) interopServer) *interopServersRun {
	t.Helper()
	job := newInteropJob(t, binary, interopClient{})
	capabilities := interopClient{}.capabilities()
	capabilities["elicitation"] = map[string]any{"form": map[string]any{}, "url": map[string]any{}}
	job.Capabilities = capabilities
	server := prepare(t, job.Cwd)
	job.Buffers = map[string]string{}
	home := job.Env["HOME"]
	job.Env["SECRET_OF_THE_EDITOR"] = "canary"
	settings := map[string]any{
		"sandbox": map[string]any{"level": server.level},
		"roots":   map[string]any{"read": []string{packagesPath(t)}},
	}
	job.Env["ACP_AGENT_CONFIG"] = testfile.JSON(t, filepath.Join(home, "config.jsonc"), settings)
	settings["mcp"] = map[string]any{"servers": map[string]any{server.name: server.configured}}
	all := testfile.JSON(t, filepath.Join(home, "servers.jsonc"), settings)
	if server.offered != nil {
		job.McpServers = []any{server.offered}
	} else {
		job.Env["ACP_AGENT_CONFIG"] = all
	}
	r := &interopServersRun{interopRun: &interopRun{T: t, job: job}, server: server, dir: job.Cwd}
	info := r.listed(all)
	r.prompts = slices.Sorted(maps.Values(info.Prompts))
	r.tools = slices.Collect(maps.Values(info.Tools))
	for tool, how := range server.calls {
		if how.asks {
			r.tools = append(r.tools, tool)
		}
	}
	slices.Sort(r.tools)
	return r
}

// serverInfo is what acp-agent mcp says of a server.
type serverInfo struct {
	Tools     map[string]string // the server's names by id
	Prompts   map[string]string // the server's names by command
	Resources []mcp.Resource
	Templates []mcp.Resource
	Dropped   []json.RawMessage
}

// listed returns what the server has, all of which must be usable, as the command lists it.
func (r *interopServersRun) listed(config string) serverInfo {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.job.Command, "mcp", "--json", "--cwd", r.job.Cwd)
	for name, value := range r.job.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, "ACP_AGENT_CONFIG="+config)
	out, err := cmd.Output()
	var list []serverInfo
	if err != nil || json.Unmarshal(out, &list) != nil || len(list) != 1 {
		r.Fatalf("acp-agent mcp: %v\n%s", err, out)
	}
	if len(list[0].Dropped) > 0 || len(list[0].Tools) == 0 {
		r.Errorf("of the server's tools %v are there, and left out are %v", list[0].Tools, list[0].Dropped)
	}
	return list[0]
}

// script is a model that looks for each tool and calls it. rest are further scenes.
func (r *interopServersRun) script(rest ...map[string]any) string {
	r.Helper()
	var steps []map[string]any
	call := func(name string, args any) any { return []any{map[string]any{"name": name, "args": args}} }
	expect := any(nil)
	for _, tool := range r.tools {
		how, ok := r.server.calls[tool]
		if !ok {
			r.Errorf("the server has a tool %s, for which there are no arguments here", tool)
			continue
		}
		words := strings.NewReplacer("-", " ", "_", " ").Replace(tool)
		args := json.RawMessage(r.inDir(how.args))
		steps = append(steps,
			map[string]any{"expect": expect, "call": call("tool_search", map[string]any{"query": words})},
			map[string]any{"expect": map[string]any{"last_result": r.id(tool)}, "call": call(r.id(tool), args)})
		expect = map[string]any{"last_result": r.inDir(how.want), "last_images": how.images}
	}
	steps = append(steps, map[string]any{"expect": expect, "say": "All were called."})
	steps[0]["when"] = "^everything$"
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	for _, step := range append(steps, rest...) {
		if step["expect"] == nil {
			delete(step, "expect")
		}
		if err := encoder.Encode(step); err != nil {
			r.Fatal(err)
		}
	}
	return text.String()
}

// drive plays a script for the steps of the job.
func (r *interopServersRun) drive(script string, steps ...interopStep) {
	r.Helper()
	if err := os.WriteFile(r.job.Env["ACP_AGENT_MODEL_SCRIPT"], []byte(script), 0o600); err != nil {
		r.Fatal(err)
	}
	r.job.Steps, r.job.AwaitServers = steps, true
	r.report = drive(r.T, r.job)
	r.calls = callsOf(r.T, r.report)
	judgeLines(r.T, r.report)
	r.handshake()
	r.order()
	r.exited()
}

// everyCall checks the first turn: each tool was found and called once, and its card says
// how it went.
func (r *interopServersRun) everyCall() {
	r.Helper()
	if got := r.report.Steps[0]; got.Result.StopReason != "end_turn" || r.said(0) != "All were called." {
		r.Fatalf("the turn ended with %+v and said %q", got, r.said(0))
	}
	want, got := map[string]string{}, map[string]string{}
	for _, tool := range r.tools {
		want[r.id(tool)] = "pending in_progress completed"
		if r.server.calls[tool].fails {
			want[r.id(tool)] = "pending in_progress failed"
		}
	}
	for _, c := range r.callsIn(0) {
		if c.name == "tool_search" {
			continue
		}
		how := r.server.calls[strings.TrimPrefix(c.name, r.id(""))]
		got[c.name] = strings.Join(c.states, " ")
		if want := r.inDir(how.want); !strings.Contains(c.contents.text(), want) {
			r.Errorf("the card of %s shows %q, want %q in it", c.name, c.contents.text(), want)
		}
		images := 0
		for _, content := range c.contents {
			if content.Content.Type == "image" {
				images++
			}
		}
		if images != how.images {
			r.Errorf("the card of %s shows %d images, want %d", c.name, images, how.images)
		}
		if r.asked(c.title) == nil {
			r.Errorf("%s (%s) was not asked about", c.name, c.title)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Errorf("calls (-want +got):\n%s", diff)
	}
	for i, line := range r.report.Lines {
		if strings.Contains(line.Line, "canary") {
			r.Errorf("line %d holds a variable of the agent's environment", i)
		}
	}
}
