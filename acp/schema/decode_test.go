package schema_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/acp/schema"
)

// What a client gets wrong in passing does no harm; the rest of the message is kept.
func TestDecode_Lenient(t *testing.T) {
	tests := []struct {
		name, raw string
		into      json.Unmarshaler
		want      string // what is kept, encoded again
	}{
		{
			"bad server skipped",
			`{"cwd":"/p","mcpServers":[7,{"name":"a"},{"name":"b","command":"/b","args":[],"env":[]}]}`,
			&schema.NewSessionRequest{},
			`{"cwd":"/p","mcpServers":[{"name":"b","command":"/b","args":[],"env":[]}]}`,
		},
		{
			"server with an argument that is no string skipped",
			`{"cwd":"/p","mcpServers":[{"name":"b","command":"/b","args":["-p",80],"env":[]}]}`,
			&schema.NewSessionRequest{},
			`{"cwd":"/p","mcpServers":[]}`,
		},
		{
			"bad environment variable skipped",
			`{"cwd":"/p","mcpServers":[{"name":"b","command":"/b","args":null,"env":[{"name":"A"},{"name":"B","value":"1"}]}]}`,
			&schema.NewSessionRequest{},
			`{"cwd":"/p","mcpServers":[{"name":"b","command":"/b","args":[],"env":[{"name":"B","value":"1"}]}]}`,
		},
		{
			"server type written out",
			`{"cwd":"/p","mcpServers":[{"type":"stdio","name":"b","command":"/b","args":[],"env":[]}]}`,
			&schema.NewSessionRequest{},
			`{"cwd":"/p","mcpServers":[{"name":"b","command":"/b","args":[],"env":[]}]}`,
		},
		{
			"unknown server kept",
			`{"cwd":"/p","mcpServers":[{"type":"acp","serverId":"x"}]}`,
			&schema.NewSessionRequest{},
			`{"cwd":"/p","mcpServers":[{"type":"acp","serverId":"x"}]}`,
		},
		{
			"null list", `{"cwd":"/p","mcpServers":null}`, &schema.NewSessionRequest{},
			`{"cwd":"/p","mcpServers":[]}`,
		},
		{
			"bad capabilities default",
			`{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":"yes","writeTextFile":true},"terminal":1,"auth":[],"session":null,"elicitation":{"form":{},"url":true}},"clientInfo":{"name":"x"}}`,
			&schema.InitializeRequest{},
			`{"protocolVersion":1,"clientCapabilities":{"fs":{"writeTextFile":true},"elicitation":{"form":{}}}}`,
		},
		{
			"capabilities no object", `{"protocolVersion":1,"clientCapabilities":[]}`, &schema.InitializeRequest{},
			`{"protocolVersion":1}`,
		},
		{
			"v2 shape", `{"protocolVersion":65535,"capabilities":{},"info":{"name":"x","version":"1"}}`, &schema.InitializeRequest{},
			`{"protocolVersion":65535}`,
		},
		{
			"unknown block kept",
			`{"sessionId":"s","prompt":[{"type":"hologram","data":[1, 2]},{"type":"text","text":"a"}]}`,
			&schema.PromptRequest{},
			`{"sessionId":"s","prompt":[{"type":"hologram","data":[1,2]},{"type":"text","text":"a"}]}`,
		},
		{
			"audience", `{"sessionId":"s","prompt":[{"type":"text","text":"a","annotations":{"audience":["user","dog"],"priority":"high"}}]}`,
			&schema.PromptRequest{},
			`{"sessionId":"s","prompt":[{"type":"text","annotations":{"audience":["user"]},"text":"a"}]}`,
		},
		{
			"bad meta", `{"sessionId":"s","_meta":3}`, &schema.CancelNotification{}, `{"sessionId":"s"}`,
		},
		{
			"escaped and repeated names", `{"session\u0049d":"a","sessionId":"b"}`, &schema.CancelNotification{}, `{"sessionId":"b"}`,
		},
		{
			"unknown outcome kept", `{"outcome":{"outcome":"later","when":1}}`, &schema.RequestPermissionResponse{},
			`{"outcome":{"outcome":"later","when":1}}`,
		},
		{
			"unknown action kept", `{"action":"snooze"}`, &schema.CreateElicitationResponse{}, `{"action":"snooze"}`,
		},
		{
			"blob", `{"sessionId":"s","prompt":[{"type":"resource","resource":{"uri":"u","blob":"QQ=="}}]}`, &schema.PromptRequest{},
			`{"sessionId":"s","prompt":[{"type":"resource","resource":{"blob":"QQ==","uri":"u"}}]}`,
		},
		{"nothing", ``, &schema.LogoutRequest{}, `{}`},
		{"null", `null`, &schema.ListSessionsRequest{}, `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := schema.Decode(json.RawMessage(tt.raw), tt.into); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(tt.into)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}

// What cannot be guessed is refused, and the error names the field.
func TestDecode_Errors(t *testing.T) {
	tests := []struct {
		name, raw string
		into      json.Unmarshaler
		want      string
	}{
		{"no object", `[]`, &schema.PromptRequest{}, "the value must be an object"},
		{"nothing", ``, &schema.PromptRequest{}, "sessionId is missing"},
		{"list missing", `{"sessionId":"s"}`, &schema.PromptRequest{}, "prompt is missing"},
		{"list null", `{"sessionId":"s","prompt":null}`, &schema.PromptRequest{}, "prompt must be an array"},
		{"number for a string", `{"sessionId":7,"prompt":[]}`, &schema.PromptRequest{}, "sessionId must be a string"},
		{"block without text", `{"sessionId":"s","prompt":[{"type":"text","text":"a"},{"type":"text"}]}`, &schema.PromptRequest{}, "prompt[1].text is missing"},
		{"block without type", `{"sessionId":"s","prompt":[{"text":"a"}]}`, &schema.PromptRequest{}, "prompt[0].type is missing"},
		{"block of nothing", `{"sessionId":"s","prompt":[null]}`, &schema.PromptRequest{}, "prompt[0] must be an object"},
		{"resource", `{"sessionId":"s","prompt":[{"type":"resource","resource":[]}]}`, &schema.PromptRequest{}, "prompt[0].resource must be an object"},
		{"version as string", `{"protocolVersion":"1"}`, &schema.InitializeRequest{}, "protocolVersion must be a number in the range of schema.ProtocolVersion"},
		{"version too large", `{"protocolVersion":65536}`, &schema.InitializeRequest{}, "protocolVersion must be a number in the range of schema.ProtocolVersion"},
		{"roots", `{"cwd":"/p","mcpServers":[],"additionalDirectories":["/a",1]}`, &schema.NewSessionRequest{}, "additionalDirectories[1] must be a string"},
		{"servers missing", `{"cwd":"/p"}`, &schema.NewSessionRequest{}, "mcpServers is missing"},
		{"cursor", `{"cursor":5}`, &schema.ListSessionsRequest{}, "cursor must be a string"},
		{"value", `{"sessionId":"s","configId":"c","value":{}}`, &schema.SetSessionConfigOptionRequest{}, "value must be a string or a boolean"},
		{"stop reason", `{"stopReason":"tired"}`, &schema.PromptResponse{}, `stopReason has the unknown value "tired"`},
		{"content value", `{"action":"accept","content":{"a":{}}}`, &schema.CreateElicitationResponse{}, "content.a must be a string, a number, a boolean or an array of strings"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := schema.Decode(json.RawMessage(tt.raw), tt.into)
			var field *schema.FieldError
			if !errors.As(err, &field) || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

// The difference between absent, null and empty survives where it means something.
func TestDecode_AbsentNullEmpty(t *testing.T) {
	for _, raw := range []string{
		`{"sessionUpdate":"session_info_update"}`,
		`{"sessionUpdate":"session_info_update","title":null}`,
		`{"sessionUpdate":"session_info_update","title":""}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c"}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"","content":[],"locations":[]}`,
	} {
		var n schema.SessionNotification
		message := `{"sessionId":"s","update":` + raw + `}`
		if err := json.Unmarshal([]byte(message), &n); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(string(compact(t, n))); got != message {
			t.Errorf("round trip\n got %s\nwant %s", got, message)
		}
	}
}

func compact(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A decoder survives any bytes, and what it accepts it can encode and accept again.
func FuzzDecode(f *testing.F) {
	for _, g := range goldens() {
		raw, err := json.Marshal(g.value)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"a`))
	f.Add([]byte(`{"sessionId":"\`))
	f.Add([]byte(`{"sessionId":}}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, fresh := range []func() json.Unmarshaler{
			func() json.Unmarshaler { return new(schema.PromptRequest) },
			func() json.Unmarshaler { return new(schema.NewSessionRequest) },
			func() json.Unmarshaler { return new(schema.InitializeRequest) },
			func() json.Unmarshaler { return new(schema.SessionNotification) },
			func() json.Unmarshaler { return new(schema.CreateElicitationRequest) },
			func() json.Unmarshaler { return new(schema.CreateElicitationResponse) },
			func() json.Unmarshaler { return new(schema.NewSessionResponse) },
		} {
			v := fresh()
			err := v.UnmarshalJSON(raw)
			if !json.Valid(raw) || err != nil {
				continue
			}
			first, err := json.Marshal(v)
			if err != nil {
				t.Fatalf("%T of %q: %v", v, raw, err)
			}
			again := fresh()
			if err := json.Unmarshal(first, again); err != nil {
				t.Fatalf("%T of %q: encoded as %s: %v", v, raw, first, err)
			}
			second, err := json.Marshal(again)
			if err != nil || string(second) != string(first) {
				t.Fatalf("%T of %q: encoded as\n%s, then as\n%s, %v", v, raw, first, second, err)
			}
		}
	})
}
