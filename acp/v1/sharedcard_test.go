package v1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// sharedCard is a request about commands, each with what "always" would store.
func sharedCard(agents []string, remember ...string) tools.PermissionRequest {
	var all []tools.PermissionRequest
	for i, rule := range remember {
		text := "make " + string(rune('a'+i))
		one := tools.PermissionRequest{
			Ready:  transcript.ToolReady{Card: kinds.Card{Kind: kinds.Execute, Title: text}, Args: []byte(`{"cmd":"` + text + `","cwd":"/w"}`)},
			Reason: "because of " + text, Remember: rule, Project: true, Agents: agents, Sandbox: "none",
		}
		if rule == "" {
			one.NoAlways = "it is not known"
		}
		all = append(all, one)
	}
	all[0].With = all[1:]
	return all[0]
}

func TestSharedCard_Options(t *testing.T) {
	optionsOf := func(editor string, req tools.PermissionRequest) (list []string) {
		for _, o := range traitsOf(editor).options(req) {
			list = append(list, string(o.Kind)+" "+string(o.OptionID)+": "+o.Name)
		}
		return list
	}
	tests := []struct {
		name, editor string
		request      tools.PermissionRequest
		want         []string
	}{
		{"an unknown editor", "other", sharedCard(nil, "make a", "make b", "make b"), []string{
			"allow_once allow: Allow all 3 once", "allow_always allow_always: Allow all 3 for this session: make a, make b",
			"reject_once reject: Reject all 3", "reject_always one_by_one: Ask about each one",
		}},
		{"one that shows names", "zed", sharedCard([]string{"explore"}, "make a", "make b"), []string{
			"allow_once allow: Allow both once", "allow_always allow_always: Allow both for explore in this session: make a, make b",
			"reject_once reject: Reject both", "reject_always one_by_one: Ask about each one",
			"allow_always allow_project: Allow both for all agents in this project: make a, make b",
		}},
		{"one that sends one rejection for all", "", sharedCard(nil, "make a", "make b"), []string{
			"allow_once allow: Allow both once", "allow_always allow_always: Allow both for this session: make a, make b",
			"reject_once reject: Reject both",
		}},
		{"something may not be stored", "zed", sharedCard(nil, "make a", ""), []string{
			"allow_once allow: Allow both once", "reject_once reject: Reject both", "reject_always one_by_one: Ask about each one",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, optionsOf(test.editor, test.request)); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSharedCard_Explanation(t *testing.T) {
	want := strings.Join([]string{
		"Command 1 of 2:", "```sh\nmake a\n```", "in `/w`", "Asked because: `because of make a`",
		"Command 2 of 2:", "```sh\nmake b\n```", "in `/w`", "Asked because: `because of make b`",
		"Asked by: `explore`", "Sandbox: none", "“Always” is not offered: `of command 2, it is not known`",
	}, "\n\n")
	if diff := cmp.Diff(want, explanation(sharedCard([]string{"explore"}, "make a", ""))); diff != "" {
		t.Errorf("explanation (-want +got):\n%s", diff)
	}
	rule := strings.Repeat("long ", 30)
	for _, got := range []string{rule + "a", rule + "b"} {
		if text := explanation(sharedCard(nil, rule+"a", rule+"b")); !strings.Contains(text, "“Always” would allow, for this session: `"+got+"`") {
			t.Errorf("%q is not in %q", got, text)
		}
	}
}
