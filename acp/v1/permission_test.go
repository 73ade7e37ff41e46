package v1

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/acp/schema"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

func TestAnswerOf(t *testing.T) {
	selected := func(id string) schema.RequestPermissionOutcome {
		return schema.SelectedPermissionOutcome{OptionID: schema.PermissionOptionId(id)}
	}
	trust := tools.PermissionRequest{Choices: &tools.Choices{Allow: "Trust", Reject: "Do not"}}
	remember := tools.PermissionRequest{Remember: "edit of a.go", Project: true}
	session := tools.PermissionRequest{Remember: "edit of a.go"}
	tests := []struct {
		name    string
		outcome schema.RequestPermissionOutcome
		request tools.PermissionRequest
		want    tools.Answer
	}{
		{"allow", selected("allow"), remember, tools.AllowOnce},
		{"always", selected("allow_always"), remember, tools.AllowAlways},
		{"always, which was not offered", selected("allow_always"), tools.PermissionRequest{}, tools.RejectOnce},
		{"for the project", selected("allow_project"), remember, tools.AllowProject},
		{"for the project, which was not offered", selected("allow_project"), session, tools.RejectOnce},
		{"for the project, where nothing may be stored", selected("allow_project"), tools.PermissionRequest{Project: true}, tools.RejectOnce},
		{"reject", selected("reject"), remember, tools.RejectOnce},
		{"reject always", selected("reject_always"), remember, tools.RejectAlways},
		{"one by one", selected("one_by_one"), sharedCard(nil, "a", "b"), tools.OneByOne},
		{"one by one, which was not offered", selected("one_by_one"), remember, tools.RejectOnce},
		{"reject always, which was not offered", selected("reject_always"), sharedCard(nil, "a", "b"), tools.RejectOnce},
		{"an id that we never gave", selected("yes"), remember, tools.RejectOnce},
		{"no id", selected(""), remember, tools.RejectOnce},
		{"another case", selected("Allow"), remember, tools.RejectOnce},
		{"cancelled", schema.CancelledPermissionOutcome{}, remember, tools.Cancelled},
		{"nothing", nil, remember, tools.RejectOnce},
		{"yes of two", selected("allow"), trust, tools.AllowOnce},
		{"no of two", selected("reject"), trust, tools.RejectOnce},
		{"what two do not have", selected("allow_always"), trust, tools.RejectOnce},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := answerOf(test.outcome, traits{optionNames: true}.options(test.request)); got != test.want {
				t.Errorf("answer %d, want %d", got, test.want)
			}
		})
	}
}

func TestPermissionOptions(t *testing.T) {
	kindsOf := func(remember string, project, names bool) (list []string) {
		for _, o := range (traits{optionNames: names}).options(tools.PermissionRequest{Remember: remember, Project: project}) {
			list = append(list, string(o.Kind)+" "+string(o.OptionID))
		}
		return list
	}
	want := []string{"allow_once allow", "allow_always allow_always", "reject_once reject", "reject_always reject_always"}
	if diff := cmp.Diff(want, kindsOf("commands like go test *", false, true)); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(append(want, "allow_always allow_project"), kindsOf("commands like go test *", true, true)); diff != "" {
		t.Errorf("with a project (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, kindsOf("commands like go test *", true, false)); diff != "" {
		t.Errorf("where no names are shown (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{want[0], want[2], want[3]}, kindsOf("", true, true)); diff != "" {
		t.Errorf("without a rule to store (-want +got):\n%s", diff)
	}
	name := permissionOptions("two\nlines \u202e"+strings.Repeat("x", 200), nil)[1].Name
	if strings.ContainsAny(name, "\n\u202e") || len([]rune(name)) > 200 {
		t.Errorf("name %q", name)
	}
}

// callerFunc answers the requests that are made of the client.
type callerFunc func(method string, params, result any) error

func (f callerFunc) Call(_ context.Context, method string, params, result any) error {
	return f(method, params, result)
}

func TestAsker(t *testing.T) {
	request := tools.PermissionRequest{
		CallID: "call_1", Name: "Bash", Reason: "it writes", Remember: "edit of a.go",
		Ready: transcript.ToolReady{
			CallID: "call_1", Tool: "bash", Args: []byte("{\"cmd\":\"echo `a` \\u202e\",\"cwd\":\"/w\"}"),
			Card: kinds.Card{Kind: kinds.Execute, Title: "echo", Locations: []kinds.Location{{Path: "/w/a.go"}}, Content: []kinds.Content{kinds.Text{Text: "preview"}}},
		},
	}
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		startText(tr)
		say(tr, "a")
		say(tr, "b")
		var got string
		ask := func(answer error) (tools.Answer, error) {
			caller := callerFunc(func(method string, params, result any) error {
				if before := r.take(); got == "" && len(before) != 2 {
					t.Errorf("%d updates stand before the question, want 2", len(before))
				}
				raw, err := json.Marshal(params)
				if err != nil || method != schema.MethodSessionRequestPermission {
					t.Errorf("%s: %v", method, err)
				}
				got = string(raw)
				result.(*schema.RequestPermissionResponse).Outcome = schema.SelectedPermissionOutcome{OptionID: "allow"}
				return answer
			})
			return (&asker{&link{conn: caller, translator: tr, session: "ses_1"}}).Ask(t.Context(), request)
		}
		if answer, err := ask(nil); answer != tools.AllowOnce || err != nil {
			t.Errorf("answer %d, %v", answer, err)
		}
		for _, want := range []string{
			`"sessionId":"ses_1"`, `"toolCallId":"call_1"`, `"status":"pending"`, `"title":"echo"`, `"name":"Bash"`,
			`"locations":[{"path":"/w/a.go"}]`, `"text":"preview"`, "```sh\\necho `a` \\\\u{202e}\\n```", "in `/w`", "Asked because: `it writes`",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("the question lacks %s: %s", want, got)
			}
		}
		failure := errors.New("connection lost")
		if answer, err := ask(failure); answer != tools.RejectOnce || !errors.Is(err, failure) {
			t.Errorf("answer %d, %v when the client cannot be asked", answer, err)
		}
		time.Sleep(time.Second)
	})
}
