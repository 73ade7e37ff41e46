package permissions_test

import (
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools/builtin"
)

// R83, R117: what the shipped rules say of each tool, in the modes and with a
// project that is trusted.
func TestDefaults(t *testing.T) {
	type row struct{ asks, code, trusted, auto, plan capability.Action }
	same := func(a capability.Action) row { return row{a, a, a, a, a} }
	edits, runs := row{ask, allow, ask, allow, ask}, row{ask, ask, allow, allow, ask}
	want := map[string]row{
		"write": edits, "edit": edits, "apply_patch": edits, "delete_file": {ask, ask, ask, allow, ask},
		"check": runs, "lsp": runs, "format_file": runs,
		"bash": same(ask), "repo_clone": same(ask), "web_fetch": same(ask), "plan_exit": same(ask),
		"mcp__git__log": same(ask), "tb__fix": same(ask), "unheard_of": same(ask),
	}
	for _, id := range []string{
		"read", "glob", "grep", "finder", "web_search", "todo", "task", "question", "skill", "tool_search", "undo_edit",
		"read_thread", "find_thread", "task_list", "oracle", "librarian", "kraken", "repo_overview", "view_image", "plan", "job_output", "job_stop", "job_list",
	} {
		want[id] = same(allow)
	}
	for _, tool := range builtin.Defaults() {
		if _, ok := want[tool.Tool]; !ok {
			t.Errorf("%s is not in the table", tool.Tool)
		}
	}
	for id, want := range want {
		call := fileCall(id, "/w/a.txt")
		call.Capabilities = []string{capability.CapFSWrite}
		decide := func(mode permissions.Mode, trusted bool) capability.Action {
			return permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(mode, trusted, builtin.Defaults())...).Decide(call).Action
		}
		got := row{
			decide(permissions.ModeAsk, false), decide(permissions.ModeCode, false), decide(permissions.ModeAsk, true),
			decide(permissions.ModeAuto, false), decide(permissions.ModePlan, false),
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", id, got, want)
		}
	}
}

// R120: the dev profile lets development commands run, and lifts no denial.
func TestDevRules(t *testing.T) {
	plain := permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(permissions.ModeAsk, false, builtin.Defaults())...)
	dev := plain.With(permissions.User, permissions.DevRules()...)
	for command, want := range map[string]capability.Action{"npm test": allow, "git push": allow, "make": allow, "curl x": ask} {
		if got := plain.Decide(bashCall(ask, command)).Action; got != ask {
			t.Errorf("without the profile %q is %v", command, got)
		}
		if got := dev.Decide(bashCall(ask, command)).Action; got != want {
			t.Errorf("with the profile %q is %v, want %v", command, got, want)
		}
	}
	if got := dev.Decide(bashCall(deny, "git push")).Action; got != deny {
		t.Errorf("the profile makes a denied command %v", got)
	}
}
