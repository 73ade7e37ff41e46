package v1

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/acp/rpc"
	"acp-agent/acp/schema"
	"acp-agent/mcp"
)

// asks calls ask with an elicitor whose client answers with answer, or fails, and returns the
// params of the request; "" if there was none.
func asks(t *testing.T, answer string, failure error, ask func(t *testing.T, p *elicitor)) (params string) {
	t.Helper()
	inTurn(t, client{}, func(t *testing.T, tr *translator, _ *recorder) {
		conn := callerFunc(func(method string, asked, result any) error {
			raw, err := json.Marshal(asked)
			if err != nil || method != schema.MethodElicitationCreate {
				t.Fatalf("%s, %v", method, err)
			}
			if params = string(raw); failure != nil {
				return failure
			}
			return json.Unmarshal([]byte(answer), result)
		})
		ask(t, &elicitor{&link{conn: conn, translator: tr, session: "ses_1"}, client{forms: true, addresses: true}})
	})
	return params
}

// notes are the notifications that a client gets.
type notes struct{ list []string }

func (n *notes) Position() (sent, written int64) { return 0, 0 }

func (n *notes) Notify(method string, params any) error {
	raw, err := json.Marshal(params)
	n.list = append(n.list, method+" "+string(raw))
	return err
}

// R77, R92: each kind of field has its form in the protocol.
func TestElicitor_Fields(t *testing.T) {
	number := func(v float64) *float64 { return &v }
	for _, tt := range []struct {
		name  string
		field mcp.Field
		want  string
	}{
		{
			"a text",
			mcp.Field{Kind: mcp.Text, Title: "T", Description: "D", Least: pointer(1), Most: pointer(9), Format: "email", Default: "a@b.example"},
			`{"type":"string","title":"T","description":"D\n\nDo not enter passwords or keys: answers go to the server.","minLength":1,"maxLength":9,"format":"email","default":"a@b.example"}`,
		},
		{"a text without a description", mcp.Field{Kind: mcp.Text, Least: pointer(-1)}, `{"type":"string","description":"Do not enter passwords or keys: answers go to the server."}`},
		{"a number", mcp.Field{Kind: mcp.Number, Minimum: number(0.5), Default: 1.5}, `{"type":"number","minimum":0.5,"default":1.5}`},
		{"a whole number", mcp.Field{Kind: mcp.Integer, Minimum: number(0.5), Maximum: number(9.5), Default: 3.0}, `{"type":"integer","minimum":1,"maximum":9,"default":3}`},
		{"a whole number without an end", mcp.Field{Kind: mcp.Integer, Minimum: number(-1e300), Maximum: number(1e300)}, `{"type":"integer"}`},
		{"yes or no", mcp.Field{Kind: mcp.Boolean, Default: true}, `{"type":"boolean","default":true}`},
		{
			"one of some",
			mcp.Field{Kind: mcp.Choice, Options: []mcp.Option{{Value: "a", Title: "A"}}, Default: "a"},
			`{"type":"string","default":"a","oneOf":[{"const":"a","title":"A"}]}`,
		},
		{
			"any of some",
			mcp.Field{Kind: mcp.Choices, Options: []mcp.Option{{Value: "a", Title: "A"}}, Least: pointer(1), Most: pointer(2), Default: []string{"a"}},
			`{"type":"array","minItems":1,"maxItems":2,"items":{"anyOf":[{"const":"a","title":"A"}]},"default":["a"]}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			raw, err := json.Marshal(propertyOf(tt.field))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(raw)); diff != "" {
				t.Errorf("field (-want +got):\n%s", diff)
			}
		})
	}
}

// The server gets the user's answer to a form as it is. An unknown answer is not consent.
func TestElicitor_Fill(t *testing.T) {
	form := mcp.Form{CallID: "call_1", Message: "The MCP server desk asks: Who?", Fields: []mcp.Field{
		{Name: "n", Kind: mcp.Integer, Required: true}, {Name: "yes", Kind: mcp.Boolean},
	}}
	for _, tt := range []struct {
		name, answer string
		failure      error
		want         mcp.Answer
		fails        string
	}{
		{"filled in", `{"action":"accept","content":{"n":3,"part":0.5,"yes":true,"t":"x","l":["y"]}}`, nil, mcp.Answer{Action: mcp.Accept, Content: map[string]any{"n": int64(3), "part": 0.5, "yes": true, "t": "x", "l": []string{"y"}}}, ""},
		{"accepted without content", `{"action":"accept"}`, nil, mcp.Answer{Action: mcp.Accept, Content: map[string]any{}}, ""},
		{"declined", `{"action":"decline","content":{"n":3}}`, nil, mcp.Answer{Action: mcp.Decline}, ""},
		{"dismissed", `{"action":"cancel"}`, nil, mcp.Answer{Action: mcp.Cancel}, ""},
		{"an action of another version", `{"action":"later","content":{"n":3}}`, nil, mcp.Answer{Action: mcp.Cancel}, ""},
		{"closed by the client", "", rpc.Errorf(rpc.CodeRequestCancelled, "closed"), mcp.Answer{Action: mcp.Cancel}, ""},
		{"not shown", "", errors.New("lost"), mcp.Answer{}, "the editor could not ask the user: lost"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			params := asks(t, tt.answer, tt.failure, func(t *testing.T, p *elicitor) {
				answer, err := p.Fill(t.Context(), form)
				if (err != nil) != (tt.fails != "") || err != nil && err.Error() != tt.fails {
					t.Fatalf("%v; want %q", err, tt.fails)
				}
				if diff := cmp.Diff(tt.want, answer); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
			})
			want := `{"message":"The MCP server desk asks: Who?","mode":"form","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"},"yes":{"type":"boolean"}},"required":["n"]},"sessionId":"ses_1","toolCallId":"call_1"}`
			if diff := cmp.Diff(want, params); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

// R77: a form that asks for a secret in a text field is not shown.
func TestElicitor_Secrets(t *testing.T) {
	free := func(name, title, description string) mcp.Form {
		return mcp.Form{Message: "The MCP server desk asks: Please fill in.", Fields: []mcp.Field{{Name: name, Title: title, Description: description, Kind: mcp.Text}}}
	}
	inMessage := free("value", "Value", "")
	inMessage.Message = "The MCP server desk asks: Enter your API key."
	choice := free("password", "Password", "")
	choice.Fields[0].Kind = mcp.Choice
	for _, tt := range []struct {
		name    string
		form    mcp.Form
		refused bool
	}{
		{"by the name of a field", free("apiKey", "Value", ""), true},
		{"by its title", free("x", "Your password", ""), true},
		{"by its description", free("x", "Value", "Paste your access token."), true},
		{"by the message", inMessage, true},
		{"a choice holds none", choice, false},
		{"another thing", free("city", "City", "Where you live."), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			params := asks(t, `{"action":"decline"}`, nil, func(t *testing.T, p *elicitor) {
				_, err := p.Fill(t.Context(), tt.form)
				if refused := err != nil && strings.Contains(err.Error(), "secret"); refused != tt.refused {
					t.Errorf("%v; want a refusal: %v", err, tt.refused)
				}
			})
			if (params == "") != tt.refused {
				t.Errorf("the client was asked %q", params)
			}
		})
	}
}

// Each address has an id of its own, with which elicitation/complete names it.
func TestElicitor_Visit(t *testing.T) {
	seen := map[string]bool{}
	for range 2 {
		told := &notes{}
		params := asks(t, `{"action":"accept"}`, nil, func(t *testing.T, p *elicitor) {
			p.translator.out.conn = told
			answer, done, err := p.Visit(t.Context(), mcp.Visit{CallID: "call_1", Message: "Pay at a.example.", Address: "https://a.example/"})
			if err != nil || answer.Action != mcp.Accept {
				t.Fatalf("%+v, %v", answer, err)
			}
			if len(told.list) > 0 {
				t.Errorf("the client is notified too early: %q", told.list)
			}
			done()
		})
		var asked struct{ Mode, URL, ElicitationID, SessionID, ToolCallID, Message string }
		if err := json.Unmarshal([]byte(params), &asked); err != nil {
			t.Fatal(err)
		}
		id := asked.ElicitationID
		asked.ElicitationID = ""
		want := struct{ Mode, URL, ElicitationID, SessionID, ToolCallID, Message string }{"url", "https://a.example/", "", "ses_1", "call_1", "Pay at a.example."}
		if asked != want || id == "" || seen[id] {
			t.Errorf("the client was asked %s", params)
		}
		seen[id] = true
		if diff := cmp.Diff([]string{`elicitation/complete {"elicitationId":"` + id + `"}`}, told.list); diff != "" {
			t.Errorf("the notifications (-want +got):\n%s", diff)
		}
	}
}
