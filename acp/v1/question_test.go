package v1

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
	"acp-agent/tools"
)

// asked is what a client was sent.
type asked struct{ method, params string }

// client answers of a test: the JSON of a result, or an error.
func questionWith(t *testing.T, forms bool, answer string, failure error, questions ...tools.Question) ([][]string, *asked, error) {
	t.Helper()
	var got *asked
	var answers [][]string
	var err error
	inTurn(t, client{}, func(t *testing.T, tr *translator, _ *recorder) {
		conn := callerFunc(func(method string, params, result any) error {
			raw, err := json.Marshal(params)
			if err != nil || got != nil {
				t.Errorf("request %s after %v: %v", method, got, err)
			}
			got = &asked{method, string(raw)}
			if failure != nil {
				return failure
			}
			return json.Unmarshal([]byte(answer), result)
		})
		q := &questioner{link: &link{conn: conn, translator: tr, session: "ses_1"}, forms: forms}
		answers, err = q.Answers(t.Context(), "call_1", questions)
	})
	return answers, got, err
}

func options(labels ...string) []tools.QuestionOption {
	var list []tools.QuestionOption
	for _, label := range labels {
		list = append(list, tools.QuestionOption{Label: label})
	}
	return list
}

func TestQuestioner_Form(t *testing.T) {
	single := tools.Question{Question: "Which language?", Header: "Language", Options: []tools.QuestionOption{{Label: "Go", Description: "fast"}, {Label: "C"}}}
	several := tools.Question{Question: "Which systems?", Options: options("Linux", "macOS"), MultiSelect: true}
	described := tools.Question{Question: "Which?", Options: []tools.QuestionOption{{Label: "a", Description: "first"}}, MultiSelect: true}
	free := tools.Question{Question: "What name\u202e?"}
	tests := []struct {
		name      string
		questions []tools.Question
		answer    string
		params    string
		want      [][]string
	}{
		{
			"one of several",
			[]tools.Question{single},
			`{"action":"accept","content":{"question_01":"Go"}}`,
			`{"message":"Which language?","mode":"form","requestedSchema":{"type":"object","properties":{"question_01":{"type":"string","title":"Language","oneOf":[{"const":"Go","title":"Go","description":"fast"},{"const":"C","title":"C"}]}},"required":["question_01"]},"sessionId":"ses_1","toolCallId":"call_1"}`,
			[][]string{{"Go"}},
		},
		{
			"three questions",
			[]tools.Question{single, several, free},
			`{"action":"accept","content":{"question_03":"x y","question_02":["macOS","Linux","macOS"],"question_01":"C"}}`,
			`{"message":"The agent has 3 questions.","mode":"form","requestedSchema":{"type":"object","properties":{` +
				`"question_01":{"type":"string","title":"Language","description":"Which language?","oneOf":[{"const":"Go","title":"Go","description":"fast"},{"const":"C","title":"C"}]},` +
				`"question_02":{"type":"array","title":"Which systems?","items":{"type":"string","enum":["Linux","macOS"]}},` +
				`"question_03":{"type":"string","title":"What name\\u{202e}?","description":"Do not enter passwords or keys: answers go to the model.","minLength":1}},"required":["question_01","question_02","question_03"]},"sessionId":"ses_1","toolCallId":"call_1"}`,
			[][]string{{"C"}, {"macOS", "Linux"}, {"x y"}},
		},
		{
			"none of several",
			[]tools.Question{described},
			`{"action":"accept","content":{"question_01":[]}}`,
			`{"message":"Which?","mode":"form","requestedSchema":{"type":"object","properties":{"question_01":{"type":"array","title":"Which?","items":{"anyOf":[{"const":"a","title":"a","description":"first"}]}}},"required":["question_01"]},"sessionId":"ses_1","toolCallId":"call_1"}`,
			[][]string{{}},
		},
		{
			"none of several, left out",
			[]tools.Question{described},
			`{"action":"accept","content":{}}`,
			`{"message":"Which?","mode":"form","requestedSchema":{"type":"object","properties":{"question_01":{"type":"array","title":"Which?","items":{"anyOf":[{"const":"a","title":"a","description":"first"}]}}},"required":["question_01"]},"sessionId":"ses_1","toolCallId":"call_1"}`,
			[][]string{{}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answers, got, err := questionWith(t, true, tt.answer, nil, tt.questions...)
			if err != nil || got == nil || got.method != schema.MethodElicitationCreate {
				t.Fatalf("asked %+v, %v", got, err)
			}
			if diff := cmp.Diff(tt.params, got.params); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, answers); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestQuestioner_FormRefused(t *testing.T) {
	choice := tools.Question{Question: "Which?", Options: options("a", "b")}
	several := tools.Question{Question: "Which?", Options: options("a", "b"), MultiSelect: true}
	free := tools.Question{Question: "What?"}
	tests := []struct {
		name     string
		question tools.Question
		answer   string
		failure  error
		kind     tools.ErrorKind
		want     string
	}{
		{"decline", choice, `{"action":"decline"}`, nil, tools.Denied, "declined to answer"},
		{"decline with content", choice, `{"action":"decline","content":{"question_01":"a"}}`, nil, tools.Denied, "declined"},
		{"cancel", free, `{"action":"cancel"}`, nil, tools.Denied, "declined"},
		{"an action of another version", free, `{"action":"later","content":{"question_01":"a"}}`, nil, tools.Denied, "declined"},
		{"no content", choice, `{"action":"accept"}`, nil, tools.Backend, "is missing"},
		{"another label", choice, `{"action":"accept","content":{"question_01":"A"}}`, nil, tools.Backend, "none of the options"},
		{"a list for one", choice, `{"action":"accept","content":{"question_01":["a"]}}`, nil, tools.Backend, "no text"},
		{"one for a list", several, `{"action":"accept","content":{"question_01":"a"}}`, nil, tools.Backend, "no list"},
		{"another label in a list", several, `{"action":"accept","content":{"question_01":["a","c"]}}`, nil, tools.Backend, "none of the options"},
		{"an empty text", free, `{"action":"accept","content":{"question_01":" "}}`, nil, tools.Backend, "is empty"},
		{"a number", free, `{"action":"accept","content":{"question_01":7}}`, nil, tools.Backend, "no text"},
		{"no such method", free, "", rpc.Errorf(rpc.CodeMethodNotFound, "no"), tools.Unavailable, "Ask in chat"},
		{"connection lost", choice, "", errors.New("lost"), tools.Unavailable, "Ask in chat"},
		{"closed by the client", choice, "", rpc.Errorf(rpc.CodeRequestCancelled, "closed"), tools.Denied, "declined"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answers, _, err := questionWith(t, true, tt.answer, tt.failure, tt.question)
			wantRefusal(t, answers, err, tt.kind, tt.want)
		})
	}
}

func wantRefusal(t *testing.T, answers [][]string, err error, kind tools.ErrorKind, mention string) {
	t.Helper()
	var failure *tools.Error
	if !errors.As(err, &failure) || failure.Kind != kind || !strings.Contains(failure.Error(), mention) || answers != nil {
		t.Errorf("answers %q, %v; want an error of kind %s with %q", answers, err, kind, mention)
	}
}

func TestQuestioner_Choice(t *testing.T) {
	two := tools.Question{Question: "Keep the\nfile?", Options: []tools.QuestionOption{{Label: "Keep", Description: "as it is"}, {Label: "Delete"}}}
	one := tools.Question{Question: "Ready?", Options: options("Yes")}
	selected := func(id string) string { return `{"outcome":{"outcome":"selected","optionId":"` + id + `"}}` }
	tests := []struct {
		name     string
		question tools.Question
		answer   string
		want     string // "" is a refusal
	}{
		{"first", two, selected("first"), "Keep"},
		{"second", two, selected("second"), "Delete"},
		{"dismissed", two, `{"outcome":{"outcome":"cancelled"}}`, ""},
		{"an id that was not offered", two, selected("dismiss"), ""},
		{"an outcome of another version", two, `{"outcome":{"outcome":"other","optionId":"first"}}`, ""},
		{"the only one", one, selected("first"), "Yes"},
		{"not the only one", one, selected("dismiss"), ""},
		{"a second that is not there", one, selected("second"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answers, got, err := questionWith(t, false, tt.answer, nil, tt.question)
			if got == nil || got.method != schema.MethodSessionRequestPermission {
				t.Fatalf("asked %+v, %v", got, err)
			}
			if tt.want == "" {
				wantRefusal(t, answers, err, tools.Denied, "declined")
				return
			}
			if diff := cmp.Diff([][]string{{tt.want}}, answers); diff != "" || err != nil {
				t.Errorf("answers (-want +got), %v:\n%s", err, diff)
			}
		})
	}
	_, got, _ := questionWith(t, false, selected("first"), nil, two)
	for _, want := range []string{
		`"sessionId":"ses_1"`, `"toolCallId":"call_1"`, `"title":"Keep the file?"`, `"kind":"other"`, "`Keep`: as it is",
		`{"optionId":"first","name":"Keep","kind":"allow_once"},{"optionId":"second","name":"Delete","kind":"reject_once"}`,
	} {
		if !strings.Contains(got.params, want) {
			t.Errorf("the request lacks %s: %s", want, got.params)
		}
	}
	_, got, _ = questionWith(t, false, selected("first"), nil, one)
	if want := `{"optionId":"dismiss","name":"Dismiss","kind":"reject_once"}`; !strings.Contains(got.params, want) {
		t.Errorf("the request lacks %s: %s", want, got.params)
	}
}

// What neither way can carry is refused, and nothing is sent (R77, trap 43).
func TestQuestioner_CannotAsk(t *testing.T) {
	tests := []struct {
		name      string
		questions []tools.Question
	}{
		{"free text", []tools.Question{{Question: "What?"}}},
		{"three labels", []tools.Question{{Question: "Which?", Options: options("a", "b", "c")}}},
		{"several of two", []tools.Question{{Question: "Which?", Options: options("a", "b"), MultiSelect: true}}},
		{"two questions", []tools.Question{{Question: "A?", Options: options("a", "b")}, {Question: "B?", Options: options("a", "b")}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answers, got, err := questionWith(t, false, "", nil, tt.questions...)
			wantRefusal(t, answers, err, tools.Unavailable, "Ask in chat instead, or continue with your best judgement and state your assumptions.")
			if got != nil {
				t.Errorf("the client was asked: %+v", got)
			}
		})
	}
}

// A turn that is cancelled releases the question (R78).
func TestQuestioner_Cancelled(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, _ *recorder) {
		ctx, cancel := context.WithCancel(t.Context())
		conn := callerFunc(func(string, any, any) error {
			cancel()
			return rpc.Errorf(rpc.CodeRequestCancelled, "cancelled")
		})
		q := &questioner{link: &link{conn: conn, translator: tr, session: "ses_1"}, forms: true}
		if answers, err := q.Answers(ctx, "call_1", []tools.Question{{Question: "What?"}}); !errors.Is(err, context.Canceled) || answers != nil {
			t.Errorf("answers %q, %v", answers, err)
		}
		time.Sleep(time.Second)
	})
}

func TestClientOf_Forms(t *testing.T) {
	for raw, want := range map[string]bool{
		`{}`: false, `{"elicitation":{}}`: false, `{"elicitation":{"url":{}}}`: false, `{"elicitation":{"form":{}}}`: true,
	} {
		var c schema.ClientCapabilities
		if err := json.Unmarshal([]byte(raw), &c); err != nil {
			t.Fatal(err)
		}
		if got := clientOf(c).forms; got != want {
			t.Errorf("forms of %s = %v, want %v", raw, got, want)
		}
	}
}
