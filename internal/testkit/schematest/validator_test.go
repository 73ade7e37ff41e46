package schematest_test

import (
	"strings"
	"testing"

	"acp-agent/internal/testkit/schematest"
)

func TestValidator_Message(t *testing.T) {
	const client, agent = schematest.ToClient, schematest.ToAgent
	type step struct {
		direction schematest.Direction
		line      string
	}
	tests := []struct {
		name    string
		before  []step // observed, not judged
		message step
		problem string // part of the error; "" is none
	}{
		{"notification", nil, step{client, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}`}, ""},
		{"variant unknown", nil, step{client, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"nonsense"}}}`}, "SessionNotification"},
		{"field of a variant", nil, step{client, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":7}}}}`}, "SessionNotification"},
		{"plan entry", nil, step{client, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[{"content":"c","priority":"urgent","status":"pending"}]}}}`}, "SessionNotification"},
		{"field missing", nil, step{client, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}`}, "update"},
		{"params missing", nil, step{client, `{"jsonrpc":"2.0","method":"session/update"}`}, "SessionNotification"},
		{"custom member", nil, step{client, `{"jsonrpc":"2.0","method":"elicitation/complete","params":{"elicitationId":"e","x":1}}`}, `no member "x"`},
		{"custom envelope member", nil, step{client, `{"jsonrpc":"2.0","method":"elicitation/complete","params":{"elicitationId":"e"},"x":1}`}, `unknown field "x"`},
		{"extension", nil, step{client, `{"jsonrpc":"2.0","method":"_x/y","params":{"z":1}}`}, ""},
		{"unknown method", nil, step{client, `{"jsonrpc":"2.0","method":"session/nonsense"}`}, "no method"},
		{"wrong side", nil, step{client, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`}, "served by the agent"},
		{"right side", nil, step{agent, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`}, ""},
		{"cancel by the agent", nil, step{client, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":3}}`}, ""},
		{"cancel by the client", nil, step{agent, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a"}}`}, ""},
		{"request as notification", nil, step{client, `{"jsonrpc":"2.0","method":"fs/read_text_file","params":{"sessionId":"s","path":"/p"}}`}, "notification true, want false"},
		{"request", nil, step{client, `{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/p"}}`}, ""},
		{"id fraction", nil, step{client, `{"jsonrpc":"2.0","id":1.5,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/p"}}`}, "RequestId"},
		{"elicitation form", nil, step{client, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"mode":"form","message":"m","sessionId":"s","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}`}, ""},
		{"elicitation without scope", nil, step{client, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{"type":"object"}}}`}, "CreateElicitationRequest"},
		{"draft that nobody asked for", nil, step{client, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"subagent_update","sessionId":"c"}}}`}, "SessionNotification"},
		{
			"draft that the client asked for",
			[]step{{agent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"subagents":{}}}}`}},
			step{client, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"subagent_update","sessionId":"c"}}}`},
			"",
		},
		{
			"draft with a faulty field",
			[]step{{agent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"subagents":{}}}}`}},
			step{client, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"subagent_update","sessionId":"c","title":7}}}`},
			"SessionNotification",
		},
		{"draft that the client calls", nil, step{agent, `{"jsonrpc":"2.0","id":1,"method":"session/fork","params":{"sessionId":"s","cwd":"/"}}`}, ""},
		{"draft without a parameter", nil, step{agent, `{"jsonrpc":"2.0","id":1,"method":"session/fork","params":{"sessionId":"s"}}`}, "cwd"},
		{"draft's result", []step{{agent, `{"jsonrpc":"2.0","id":1,"method":"session/fork","params":{}}`}}, step{client, `{"jsonrpc":"2.0","id":1,"result":{}}`}, "ForkSessionResponse"},
		{"draft that the agent calls", nil, step{client, `{"jsonrpc":"2.0","id":1,"method":"mcp/connect","params":{"acpId":"a"}}`}, "no method"},
		{"no version", nil, step{client, `{"method":"_x"}`}, "jsonrpc"},
		{"two lines", nil, step{client, "{\"jsonrpc\":\"2.0\",\n\"method\":\"_x\"}"}, "one line"},
		{"two values", nil, step{client, `{"jsonrpc":"2.0","method":"_x"} {}`}, "one value"},
		{"not JSON", nil, step{client, `hello`}, "invalid character"},
		{"result", []step{{agent, `{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{}}`}}, step{client, `{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn"}}`}, ""},
		{"bad result", []step{{agent, `{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{}}`}}, step{client, `{"jsonrpc":"2.0","id":"p","result":{"stopReason":"error"}}`}, "PromptResponse"},
		{"unstable member", []step{{agent, `{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{}}`}}, step{client, `{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn","usage":{}}}`}, ""},
		{"null result", []step{{agent, `{"jsonrpc":"2.0","id":"p","method":"logout"}`}}, step{client, `{"jsonrpc":"2.0","id":"p","result":null}`}, "LogoutResponse"},
		{"other id", []step{{agent, `{"jsonrpc":"2.0","id":"p","method":"logout"}`}}, step{client, `{"jsonrpc":"2.0","id":"q","result":{}}`}, "no request with id"},
		{"own id", []step{{client, `{"jsonrpc":"2.0","id":"p","method":"_x"}`}}, step{client, `{"jsonrpc":"2.0","id":"p","result":{}}`}, "no request with id"},
		{"error", []step{{agent, `{"jsonrpc":"2.0","id":4,"method":"nonsense"}`}}, step{client, `{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"m"}}`}, ""},
		{"result for nonsense", []step{{agent, `{"jsonrpc":"2.0","id":4,"method":"nonsense"}`}}, step{client, `{"jsonrpc":"2.0","id":4,"result":{}}`}, "no method"},
		{"error with newline", []step{{agent, `{"jsonrpc":"2.0","id":4,"method":"logout"}`}}, step{client, `{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"m\nn"}}`}, "not one line"},
		{"error code", []step{{agent, `{"jsonrpc":"2.0","id":4,"method":"logout"}`}}, step{client, `{"jsonrpc":"2.0","id":4,"error":{"code":"x","message":"m"}}`}, "Error"},
		{"error for null", nil, step{client, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`}, ""},
		{"both", nil, step{client, `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":-32700,"message":"m"}}`}, "either"},
		{"method and result", nil, step{client, `{"jsonrpc":"2.0","id":1,"method":"_x","result":{}}`}, "both"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := schematest.Open(t)
			for _, s := range tt.before {
				v.Observe(s.direction, []byte(s.line))
			}
			err := v.Message(tt.message.direction, []byte(tt.message.line))
			switch {
			case tt.problem == "" && err != nil:
				t.Error(err)
			case tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem)):
				t.Errorf("error %v, want one with %q", err, tt.problem)
			}
		})
	}
}

// An answer is judged once.
func TestValidator_AnsweredTwice(t *testing.T) {
	v := schematest.Open(t)
	v.Observe(schematest.ToAgent, []byte(`{"jsonrpc":"2.0","id":1,"method":"logout"}`))
	answer := []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	if err := v.Message(schematest.ToClient, answer); err != nil {
		t.Fatal(err)
	}
	if err := v.Message(schematest.ToClient, answer); err == nil {
		t.Error("a second answer was accepted")
	}
}
