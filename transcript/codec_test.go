package transcript_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// fill sets everything in v that can be set to something that is not zero, so
// that a field which the codec loses shows.
func fill(v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *json.RawMessage:
		*x = json.RawMessage(`{"a":["<b>",null,1.50]}`)
		return
	case *time.Time:
		*x = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
		return
	case *[]transcript.Part:
		return // every part has a case of its own
	case **transcript.Child:
		var record transcript.ChildRecord
		fill(reflect.ValueOf(&record).Elem())
		record.Inspectable = false // or it has no messages
		record.AwaitsUser = false  // not stored
		*x = transcript.NewChild(record, transcript.NewLog(record.Messages...))
		return
	case *[]*transcript.Message:
		*x = []*transcript.Message{{ID: "1", Role: transcript.User}, {
			ID: "2", Role: transcript.Assistant, Synthetic: true, Parts: []transcript.Part{&transcript.TextPart{Text: "x"}},
		}}
		return
	case *map[string]any:
		*x = map[string]any{"a": []any{"<b>", nil, 1.5}}
		return
	case *[]kinds.Content:
		*x = []kinds.Content{
			kinds.Text{Text: "a <b> & c"},
			kinds.Image{MediaType: "image/png", Data: "QUJD"},
			kinds.Terminal{ID: "t"},
			kinds.Diff{Path: "/a", New: "new"},
			kinds.Diff{Path: "/a", Old: new(string), New: "x"},
			kinds.Text{},
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text \u2028 \x00 of " + v.Type().String())
	case reflect.Int, reflect.Int64:
		v.SetInt(1<<53 + 1)
	case reflect.Float64:
		v.SetFloat(1.25)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	default:
		panic("fill cannot fill a " + v.Type().String())
	}
}

// records compares subagents by what is kept of them.
var records = cmp.Transformer("record", func(c *transcript.Child) transcript.ChildRecord {
	if c == nil {
		return transcript.ChildRecord{}
	}
	return c.Record()
})

func TestCodec_LosesNoField(t *testing.T) {
	for _, part := range []transcript.Part{
		&transcript.TextPart{}, &transcript.ReasoningPart{}, &transcript.ImagePart{}, &transcript.LinkPart{},
		&transcript.ResourcePart{}, &transcript.ToolPart{},
	} {
		kind := reflect.TypeOf(part).Elem()
		t.Run(kind.Name(), func(t *testing.T) {
			for _, full := range []bool{true, false} {
				if full {
					fill(reflect.ValueOf(part).Elem())
				} else {
					part = reflect.New(kind).Interface().(transcript.Part)
				}
				data, err := transcript.EncodePart(part)
				if err != nil {
					t.Fatal(err)
				}
				got, err := transcript.DecodePart(data)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(part, got, records); diff != "" {
					t.Errorf("full: %v (-want +got):\n%s\n%s", full, diff, data)
				}
			}
		})
	}
	t.Run("Message", func(t *testing.T) {
		want := &transcript.Message{}
		fill(reflect.ValueOf(want).Elem())
		want.Role = transcript.User
		want.Parts = []transcript.Part{&transcript.TextPart{ID: "1"}, &transcript.ToolPart{CallID: "2"}, &transcript.TextPart{ID: "3"}}
		data, err := transcript.EncodeMessage(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := transcript.DecodeMessage(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestCodec_Form pins what stands in stores and exports (R144).
func TestCodec_Form(t *testing.T) {
	old := ""
	tests := []struct {
		name string
		part transcript.Part
		want string
	}{
		{"text", &transcript.TextPart{ID: "p", Text: "a<b"}, `{"type":"text","id":"p","text":"a<b"}`},
		{"reasoning", &transcript.ReasoningPart{ID: "p", Text: "hm"}, `{"type":"reasoning","id":"p","text":"hm"}`},
		{
			"encrypted reasoning", &transcript.ReasoningPart{ID: "p", Replay: json.RawMessage(`[{"data":"a<b\u2028"}]`)},
			`{"type":"reasoning","id":"p","text":"","replay":[{"data":"a<b\u2028"}]}`,
		},
		{"image", &transcript.ImagePart{MediaType: "image/png", Data: "QQ=="}, `{"type":"image","media_type":"image/png","data":"QQ=="}`},
		{"link", &transcript.LinkPart{URI: "file:///a", Name: "a"}, `{"type":"link","uri":"file:///a","name":"a"}`},
		{"resource", &transcript.ResourcePart{URI: "file:///a", Text: "x"}, `{"type":"resource","uri":"file:///a","text":"x"}`},
		{
			"tool",
			&transcript.ToolPart{
				CallID: "c", Name: "Edit", Tool: "edit_file", Input: `{"a`, State: transcript.Done,
				Card: kinds.Card{Kind: kinds.Edit, Title: "Edit a", Content: []kinds.Content{
					kinds.Diff{Path: "/a", Old: &old, New: "x"},
					kinds.Diff{Path: "/b", New: "y"},
					kinds.Text{Text: "t"},
					kinds.Terminal{ID: "1"},
					kinds.Image{MediaType: "image/gif", Data: "Qg=="},
				}},
				Result: &transcript.Envelope{Type: transcript.Output, Data: json.RawMessage(`{"ok":true}`)},
			},
			`{"type":"tool","call_id":"c","name":"Edit","tool":"edit_file","input":"{\"a","state":"done",` +
				`"card":{"kind":"edit","title":"Edit a"},"result":{"type":"output","data":{"ok":true},"metadata":{"duration_ms":0}},` +
				`"content":[{"type":"diff","path":"/a","old":"","new":"x"},{"type":"diff","path":"/b","new":"y"},` +
				`{"type":"text","text":"t"},{"type":"terminal","id":"1"},{"type":"image","media_type":"image/gif","data":"Qg=="}]}`,
		},
		{
			"opaque subagent", &transcript.ToolPart{CallID: "c", Tool: "task", State: transcript.InProgress, Child: spawned(false)},
			`{"type":"tool","call_id":"c","name":"","tool":"task","input":"","state":"in-progress","card":{"kind":"","title":""},` +
				`"child":{"id":"s","parent_id":"p","parent_message_id":"m","call_id":"c","agent":"explore","path":["explore"],"prompt":"look",` +
				`"state":"running","queued":"2026-01-02T03:04:05Z","usage":{"input":0,"output":0},"messages":[` +
				`{"id":"1","role":"user","created":"0001-01-01T00:00:00Z","finished":true,"parts":[{"type":"text","id":"","text":"look"}]}]}}`,
		},
		{
			"inspectable subagent", &transcript.ToolPart{CallID: "c", Tool: "task", State: transcript.InProgress, Child: spawned(true)},
			`{"type":"tool","call_id":"c","name":"","tool":"task","input":"","state":"in-progress","card":{"kind":"","title":""},` +
				`"child":{"id":"s","parent_id":"p","parent_message_id":"m","call_id":"c","agent":"explore","path":["explore"],"prompt":"look",` +
				`"inspectable":true,"state":"running","queued":"2026-01-02T03:04:05Z","usage":{"input":0,"output":0}}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &transcript.Message{ID: "m", Role: transcript.User, Parts: []transcript.Part{tt.part}}
			data, err := transcript.EncodeMessage(m)
			if err != nil {
				t.Fatal(err)
			}
			want := `{"id":"m","role":"user","created":"0001-01-01T00:00:00Z","finished":false,"parts":[` + tt.want + `]}`
			if diff := cmp.Diff(want, string(data)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// spawned is a subagent with one message.
func spawned(inspectable bool) *transcript.Child {
	return transcript.NewChild(transcript.ChildRecord{
		ID: "s", ParentID: "p", ParentMessageID: "m", CallID: "c", Agent: "explore", Path: []string{"explore"}, Prompt: "look",
		Inspectable: inspectable, State: transcript.ChildRunning, Queued: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}, transcript.NewLog(&transcript.Message{
		ID: "1", Role: transcript.User, Finished: true, Parts: []transcript.Part{&transcript.TextPart{Text: "look"}},
	}))
}

// nested is a message with subagents, one in the other.
func nested(depth int) *transcript.Message {
	m := &transcript.Message{ID: "m", Role: transcript.Assistant}
	for range depth {
		child := transcript.NewChild(transcript.ChildRecord{ID: "s"}, transcript.NewLog(m))
		m = &transcript.Message{ID: "m", Role: transcript.Assistant, Parts: []transcript.Part{&transcript.ToolPart{CallID: "c", Child: child}}}
	}
	return m
}

func TestCodec_Depth(t *testing.T) {
	const most = 16
	data, err := transcript.EncodeMessage(nested(most))
	if err != nil {
		t.Fatal(err)
	}
	m, err := transcript.DecodeMessage(data)
	if err != nil {
		t.Fatal(err)
	}
	for range most {
		m = m.Calls()[0].Child.Messages()[0]
	}
	if len(m.Parts) > 0 {
		t.Error("there is more than was encoded")
	}
	if _, err := transcript.EncodeMessage(nested(most + 1)); err == nil || !strings.Contains(err.Error(), "nested more than 16") {
		t.Errorf("EncodeMessage of one more: %v", err)
	}
	deeper := `{"role":"assistant","parts":[{"type":"tool","child":{"messages":[` + string(data) + `]}}]}`
	if _, err := transcript.DecodeMessage([]byte(deeper)); err == nil || !strings.Contains(err.Error(), "nested more than 16") {
		t.Errorf("DecodeMessage of one more: %v", err)
	}
	// Text that goes on for ever is refused where it is too deep, not at its end.
	endless := strings.Repeat(`{"role":"user","parts":[{"type":"tool","child":{"messages":[`, 100) + strings.Repeat(`]}}]}`, 100)
	if _, err := transcript.DecodeMessage([]byte(endless)); err == nil || !strings.Contains(err.Error(), "nested more than 16") {
		t.Errorf("DecodeMessage of many more: %v", err)
	}
}

// strangeContent is a content that the codec does not know.
type strangeContent struct{ kinds.Content }

func TestCodec_EncodeRefuses(t *testing.T) {
	var none *transcript.TextPart
	var noCall *transcript.ToolPart
	user := func(parts ...transcript.Part) *transcript.Message {
		return &transcript.Message{ID: "msg_1", Role: transcript.User, Parts: parts}
	}
	tests := []struct {
		name    string
		message *transcript.Message
		want    string
	}{
		{"no message", nil, "there is none"},
		{"no role", &transcript.Message{ID: "msg_1"}, `"msg_1": unknown role ""`},
		{"no part", user(nil), "part 0: part: there is none"},
		{"nil part", user(&transcript.TextPart{}, none), "part 1: part: there is none"},
		{"nil call", user(noCall), "part 0: part: there is none"},
		{
			"unknown content",
			user(&transcript.ToolPart{CallID: "call_1", Card: kinds.Card{Content: []kinds.Content{strangeContent{}}}}),
			"strangeContent",
		},
		{"invalid raw JSON", user(&transcript.ToolPart{Result: &transcript.Envelope{Data: json.RawMessage(`{`)}}), "JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if data, err := transcript.EncodeMessage(tt.message); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("EncodeMessage = %s, %v; want an error with %q", data, err, tt.want)
			}
		})
	}
}

func TestCodec_DecodeRefuses(t *testing.T) {
	tests := []struct{ name, data, want string }{
		{"no JSON", `{`, "JSON"},
		{"more than one", `{"role":"user"} {}`, "after top-level value"},
		{"null", `null`, `unknown role ""`},
		{"unknown role", `{"id":"m","role":"system"}`, `message "m": unknown role "system"`},
		{"unknown part", `{"id":"m","role":"user","parts":[{"type":"text"},{"type":"hologram"}]}`, `message "m": part 1: part: unknown type "hologram"`},
		{"part without type", `{"role":"user","parts":[{}]}`, `unknown type ""`},
		{"null part", `{"role":"user","parts":[null]}`, `unknown type ""`},
		{"part of the wrong shape", `{"role":"user","parts":[{"type":"text","text":1}]}`, "part 0"},
		{"tool of the wrong shape", `{"role":"user","parts":[{"type":"tool","state":1}]}`, "part 0"},
		{
			"unknown content", `{"role":"user","parts":[{"type":"tool","call_id":"c","content":[{"type":"smell"}]}]}`,
			`tool call "c": content 0: unknown type "smell"`,
		},
		{
			"subagent of the wrong shape", `{"role":"user","parts":[{"type":"tool","call_id":"c","child":7}]}`,
			`tool call "c": subagent`,
		},
		{
			"unknown part of a subagent",
			`{"role":"user","parts":[{"type":"tool","child":{"id":"s","messages":[{"id":"n","role":"user","parts":[{"type":"smell"}]}]}}]}`,
			`subagent "s": message "n": part 0: part: unknown type "smell"`,
		},
		{
			"messages of an inspectable subagent",
			`{"role":"user","parts":[{"type":"tool","child":{"id":"s","inspectable":true,"messages":[{"role":"user"}]}}]}`,
			`subagent "s": it is inspectable`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if m, err := transcript.DecodeMessage([]byte(tt.data)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("DecodeMessage = %v, %v; want an error with %q", m, err, tt.want)
			}
		})
	}
}

func FuzzDecodeMessage(f *testing.F) {
	f.Add([]byte(`{"id":"m","role":"assistant","created":"2026-01-02T03:04:05.6+02:00","usage":{"input":1},"parts":[{"type":"text","text":"a"}]}`))
	f.Add([]byte(`{"role":"user","parts":[{"type":"tool","state":"done","card":{"locations":[{"path":"/a"}]},` +
		`"result":{"type":"error","error":{"details":{"a": null}},"data": [1, 2.50]},"content":[{"type":"diff","old":"","new":"x"}]}]}`))
	f.Add([]byte(`{"role":"user","parts":[{"type":"image"},{"type":"link","size":3},{"type":"resource"},{"type":"reasoning"}]}`))
	f.Add([]byte(`{"role":"assistant","synthetic":true,"parts":[{"type":"tool","state":"in-progress","child":{"id":"s","agent":"x","path":["x"],` +
		`"metadata":{"a":[1.5,null]},"state":"running","queued":"2026-01-02T03:04:05Z","messages":[{"role":"assistant","parts":[` +
		`{"type":"tool","child":{"id":"t","inspectable":true,"state":"queued"}},{"type":"tool","state":"blocked-on-user","tool":"question"}]}]}}]}`))
	f.Add([]byte(`{"role":"user","parts":[{"type":"tool","child":null},{"type":"tool","child":{}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := transcript.DecodeMessage(data)
		if err != nil {
			return
		}
		once, err := transcript.EncodeMessage(m)
		if err != nil {
			t.Fatalf("what was decoded cannot be encoded: %v", err)
		}
		again, err := transcript.DecodeMessage(once)
		if err != nil {
			t.Fatalf("what was encoded cannot be decoded: %v\n%s", err, once)
		}
		twice, err := transcript.EncodeMessage(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(once), string(twice)); diff != "" {
			t.Errorf("a second round changes it (-first +second):\n%s", diff)
		}
		after, _ := transcript.AfterRestart(transcript.Snapshot{Messages: []*transcript.Message{m}}, time.Time{})
		if unchanged, err := transcript.EncodeMessage(m); err != nil || string(unchanged) != string(once) {
			t.Errorf("a restart changes what it was given: %v\n%s", err, unchanged)
		}
		checkRestarted(t, after.Messages, false)
	})
}
