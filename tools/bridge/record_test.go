package bridge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools/bridge"
	"acp-agent/transcript"
)

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// family is one of the two kinds of records.
type family struct {
	name   string
	decode func([]byte) (bridge.Outcome, error)
	encode func(bridge.Outcome) ([]byte, error)
}

func families() []family {
	return []family{
		{"amp", bridge.DecodeAmp, bridge.EncodeAmp},
		{"amplifier", bridge.DecodeAmplifier, bridge.EncodeAmplifier},
	}
}

// R6: a record becomes an envelope and the same bytes again.
func TestRecords_ThereAndBack(t *testing.T) {
	t.Parallel()
	records := map[string][]string{
		"amp": {
			`{"status":"queued"}`,
			`{"status":"blocked-on-user","permissions":["x"]}`,
			`{"status":"in-progress","progress":{"n":1}}`,
			`{"status":"done","result":"text"}`,
			`{"status":"done","result":{"b":1,  "a":[ 2.50, 12345678901234567890 ]},"trackFiles":["/w/a"]}`,
			`{"status":"done"}`,
			`{"status":"done","result":null,"trackFiles":[]}`,
			`{"status":"done","result":1,"error":null,"later":{"x":"<&>"}}`,
			`{"result":1,"status":"done"}`,
			`{"status":"error","error":{"message":"m"}}`,
			`{"status":"error","error":{"message":"ENOENT <é>","errorCode":"c","absolutePath":"/w/a"}}`,
			`{"status":"error","error":{"absolutePath":"/w/a","stack":["a"],"message":"m","errorCode":7}}`,
			`{"status":"error","error":{"message":"","errorCode":""}}`,
			`{"status":"error","error":{}}`,
			`{"status":"error","error":null}`,
			`{"status":"error"}`,
			`{"status":"error","result":"half","error":{"message":"m","result":"own"}}`,
			`{"status":"cancelled"}`,
			`{"status":"rejected-by-user","error":{"message":"no"},"metadata":{"kind":"denied","deniedBy":"user"}}`,
			`{"status":"done","result":1,"metadata":{"duration_ms":5,"truncated":true,"output_path":"/o"}}`,
			`{"status":"done","result":1,"metadata":{"duration_ms":0}}`,
			`{"status":"done","result":1,"metadata":"theirs"}`,
			`{"status":"done","result":1,"metadata":{}}`,
		},
		"amplifier": {
			`{}`,
			`{"output":42}`,
			`{"success":true,"output":{"k": [1]},"error":null}`,
			`{"success":true,"output":null,"error":null}`,
			`{"success":false,"output":null,"error":{"message":"required_param is required"}}`,
			`{"success":false,"error":{"message":"m","type":"ValueError","args":[1,{"x":null}]}}`,
			`{"success":false,"error":{"type":null,"message":{"en":"m"}}}`,
			`{"success":false,"output":"half","error":{"message":"m","type":"E"}}`,
			`{"success":false}`,
			`{"error":{"message":"without success it means nothing"}}`,
			`{"success":false,"error":{"message":"m"},"metadata":{"state":"cancelled","duration_ms":3,"track_files":["/a"]}}`,
			`{"success":true,"output":"x","metadata":{"state":"cancelled"}}`,
		},
	}
	for _, f := range families() {
		for _, record := range records[f.name] {
			t.Run(f.name+" "+record, func(t *testing.T) {
				t.Parallel()
				outcome, err := f.decode([]byte(record))
				if err != nil {
					t.Fatal(err)
				}
				if e := outcome.Envelope; e != nil && e.Type == transcript.Error && e.Data != nil {
					t.Errorf("an error envelope has data: %s", e.Data)
				}
				back, err := f.encode(outcome)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(record, string(back)); diff != "" {
					t.Errorf("record (-want +got)\n%s", diff)
				}
			})
		}
	}
}

func TestDecode_Meaning(t *testing.T) {
	t.Parallel()
	failed := func(state transcript.State, text string, detail *transcript.ErrorDetail) bridge.Outcome {
		return bridge.Outcome{State: state, Envelope: &transcript.Envelope{Type: transcript.Error, ErrorText: text, Error: detail}}
	}
	tests := []struct {
		name, record string
		decode       func([]byte) (bridge.Outcome, error)
		want         bridge.Outcome
	}{
		{
			"Amp error", `{"status":"error","error":{"message":"m","errorCode":"c","absolutePath":"/a","more":1}}`, bridge.DecodeAmp,
			failed(transcript.Failed, "m", &transcript.ErrorDetail{Code: "c", AbsolutePath: "/a", Details: map[string]json.RawMessage{"more": raw("1")}}),
		},
		{"Amp cancelled", `{"status":"cancelled"}`, bridge.DecodeAmp, failed(transcript.Cancelled, "", nil)},
		{"Amp waiting", `{"status":"blocked-on-user"}`, bridge.DecodeAmp, bridge.Outcome{State: transcript.BlockedOnUser}},
		{"Amp done", `{"status":"done","result":{},"trackFiles":["/a"]}`, bridge.DecodeAmp, bridge.Outcome{
			State:    transcript.Done,
			Envelope: &transcript.Envelope{Type: transcript.Output, Data: raw("{}"), Metadata: transcript.Metadata{TrackFiles: []string{"/a"}}},
		}},
		{
			"Amplifier type", `{"success":false,"error":{"message":"m","type":"KeyError"}}`, bridge.DecodeAmplifier,
			failed(transcript.Failed, "m", &transcript.ErrorDetail{Type: "KeyError"}),
		},
		{
			"trap 65", `{"success":false,"output":"half","error":{"message":"m"}}`, bridge.DecodeAmplifier,
			failed(transcript.Failed, "m", &transcript.ErrorDetail{Details: map[string]json.RawMessage{"output": raw(`"half"`)}}),
		},
		{
			"success by default", `{"output":"x"}`, bridge.DecodeAmplifier,
			bridge.Outcome{State: transcript.Done, Envelope: &transcript.Envelope{Type: transcript.Output, Data: raw(`"x"`)}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.decode([]byte(tt.record))
			if err != nil {
				t.Fatal(err)
			}
			got.Form = bridge.Form{}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("outcome (-want +got)\n%s", diff)
			}
		})
	}
}

func TestDecode_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, record, want string }{
		{"amp", `{"result":1}`, `"status" is missing`},
		{"amp", `{"status":"finished"}`, `unknown status "finished"`},
		{"amp", `{"status":"error","error":"boom"}`, `"error" must be an object`},
		{"amp", `{"status":"done","status":"error"}`, "stands twice"},
		{"amp", `{"status":"done"} {}`, "follows"},
		{"amp", `[]`, "not a JSON object"},
		{"amp", `{"status":`, "not valid JSON"},
		{"amplifier", ``, "not valid JSON"},
		{"amplifier", `{"success":"no"}`, "true or false"},
		{"amplifier", `{"success":null}`, "true or false"},
		{"amplifier", `{"success":false,"error":[]}`, "must be an object"},
	}
	for _, tt := range tests {
		for _, f := range families() {
			if f.name != tt.name {
				continue
			}
			if _, err := f.decode([]byte(tt.record)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: got %v, want an error with %q", tt.record, err, tt.want)
			}
		}
	}
	if _, err := bridge.EncodeAmplifier(bridge.Outcome{State: transcript.Queued}); err == nil {
		t.Error("Amplifier has a record of a queued call")
	}
	if _, err := bridge.EncodeAmp(bridge.Outcome{}); err == nil {
		t.Error("no outcome has a record")
	}
}

func TestToolCall(t *testing.T) {
	t.Parallel()
	for _, record := range []string{
		`{"id":"1","name":"read","arguments":{"path": "a",  "n":1.0}}`,
		`{"arguments":{},"name":"x","id":"","type":"function"}`,
	} {
		call, err := bridge.DecodeToolCall([]byte(record))
		if err != nil {
			t.Fatal(err)
		}
		back, err := call.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(record, string(back)); diff != "" {
			t.Errorf("record (-want +got)\n%s", diff)
		}
	}
	for _, bad := range []string{`{"id":"1","name":"x"}`, `{"id":1,"name":"x","arguments":{}}`, `{"id":"1","name":"x","arguments":[]}`, `null`} {
		if call, err := bridge.DecodeToolCall([]byte(bad)); err == nil {
			t.Errorf("%s was taken for %+v", bad, call)
		}
	}
	if _, err := (bridge.ToolCall{Name: "x", Arguments: raw(`{"`)}).Encode(); err == nil {
		t.Error("garbled arguments were encoded")
	}
}
