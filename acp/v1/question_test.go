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
	"acp-agent/transcript"
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
		{"a list for one", choice, `{"action":"accept","content":{"question_01":["a"]}}`, nil, tools.Backend, "not a text"},
		{"one for a list", several, `{"action":"accept","content":{"question_01":"a"}}`, nil, tools.Backend, "not a list"},
		{"another label in a list", several, `{"action":"accept","content":{"question_01":["a","c"]}}`, nil, tools.Backend, "none of the options"},
		{"an empty text", free, `{"action":"accept","content":{"question_01":" "}}`, nil, tools.Backend, "is empty"},
		{"a number", free, `{"action":"accept","content":{"question_01":7}}`, nil, tools.Backend, "not a text"},
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

// Without forms the questions are written into the chat, as messages of their own in which
// nothing of the model is read as Markdown; the client is asked nothing (R77).
func TestQuestioner_Chat(t *testing.T) {
	tests := []struct {
		name      string
		questions []tools.Question
		want      string
	}{
		{"free text", []tools.Question{{Question: "What *name*?"}}, "**Question**: What \\*name\\*?\n\nWrite your answer as your next message.\n\n"},
		{
			"one of two",
			[]tools.Question{{Question: "Which?", Header: "Tabs", Options: []tools.QuestionOption{{Label: "a_b", Description: "the\nfirst"}, {Label: "- [x]"}}}},
			"**Question** (Tabs): Which?\n\n1. a_b: the first\n2. \\- \\[x]\n\nWrite your answer as your next message, by number or in your own words.\n\n",
		},
		{
			"two questions",
			[]tools.Question{{Question: "A?\n# b\n1. c", Options: options("x"), MultiSelect: true}, {Question: "`B`?"}},
			"**Question 1 of 2**: A?\n\\# b\n1\\. c\n\n1. x\n\nSeveral may be chosen.\n\n**Question 2 of 2**: \\`B\\`?\n\n" +
				"Write your answers as your next message, by number or in your own words.\n\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
				conn := callerFunc(func(method string, _, _ any) error { t.Errorf("the client was asked: %s", method); return nil })
				q := &questioner{link: &link{conn: conn, translator: tr, session: "ses_1"}}
				r.take()
				answers, err := q.Answers(t.Context(), "call_1", tt.questions)
				chat, ok := errors.AsType[*tools.InChat](err)
				if answers != nil || !ok {
					t.Fatalf("answers %q, %v; want none, in the chat", answers, err)
				}
				if said := r.take(); len(said) > 0 { // the session does
					t.Errorf("said %+v", said)
				}
				if diff := cmp.Diff(tt.want, chat.Text); diff != "" {
					t.Errorf("the question (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// In the chat only the main agent is answered: a subagent is told to report its question,
// and nothing is sent.
func TestQuestioner_ChatOfSubagent(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		delegate(tr.Emit, "call_1", false, "explore")
		within(tr, "call_1")(transcript.ToolStarted{MessageID: "msg_3", CallID: "call_2", Name: "question", Tool: "question", Card: label("question")})
		r.take()
		q := &questioner{link: &link{translator: tr, session: "ses_1"}}
		answers, err := q.Answers(t.Context(), "call_2", []tools.Question{{Question: "What?"}})
		wantRefusal(t, answers, err, tools.Unavailable, "return the question in your report")
		if got := r.lines(); got != nil {
			t.Errorf("sent: %q", got)
		}
	})
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
