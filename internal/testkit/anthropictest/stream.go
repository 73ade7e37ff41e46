package anthropictest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// stream answers with a step, in the events and with the members of the API
// (platform.claude.com/docs/en/build-with-claude/streaming), a ping and an event of an
// unknown type among them. number is that of the answer. It returns what was sent.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, step *Step, body []byte, number int) string {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	var asked struct{ Model string }
	_ = json.Unmarshal(body, &asked)
	out := &events{w: w, r: r, cut: step.Cut, stall: step.Stall}
	defer func() {
		if out.broken {
			panic(http.ErrAbortHandler)
		}
	}()
	out.send("message_start", fmt.Sprintf(`"message":{"id":"msg_%d","type":"message","role":"assistant","model":%q,"content":[],"stop_reason":null,"stop_sequence":null,`+
		`"usage":{"input_tokens":25,"cache_creation_input_tokens":7,"cache_read_input_tokens":100,"output_tokens":1}}`, number, asked.Model))
	out.send("ping", "")
	blocks := s.blocks(step, asked.Model, number)
	for i := range blocks {
		out.block(i, &blocks[i], step.Silent)
		if i == 0 && step.Fail != "" {
			out.send("error", fmt.Sprintf(`"error":{"type":%q,"message":"Overloaded"}`, step.Fail))
			return out.text.String()
		}
	}
	out.send("a_type_of_the_future", `"delta":{"type":"text_delta","text":"never shown"}`)
	stop := step.Stop
	switch {
	case stop != "":
	case len(step.Calls) > 0:
		stop = "tool_use"
	default:
		stop = "end_turn"
	}
	usage := `"output_tokens":50`
	if step.Usage != "" {
		usage += "," + step.Usage
	}
	out.send("message_delta", fmt.Sprintf(`"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{%s}`, stop, usage))
	out.send("message_stop", "")
	return out.text.String()
}

// blocks are those of a step. Its thinking is kept, to be checked when it comes back.
func (s *Server) blocks(step *Step, model string, number int) []block {
	var list []block
	if step.Thinking != "" || step.Silent {
		text := step.Thinking
		if step.Silent {
			text = ""
		}
		list = append(list, block{Type: "thinking", Thinking: &text, Signature: sign(model, step.Thinking, number)})
	}
	if step.Redacted != "" {
		list = append(list, block{Type: "redacted_thinking", Data: sign(model, step.Redacted, number)})
	}
	thinking := slices.Clone(list)
	for _, b := range thinking {
		s.answers[model+b.Signature+b.Data] = thinking
	}
	if step.Text != "" {
		list = append(list, block{Type: "text", Text: &step.Text})
	}
	for i, call := range step.Calls {
		id := call.ID
		if id == "" {
			id = fmt.Sprintf("toolu_%d_%d", number, i)
		}
		list = append(list, block{Type: "tool_use", ID: id, Name: call.Name, Input: json.RawMessage(call.Input)})
	}
	return list
}

// sign makes a signature with all the characters of base64, and longer than a line.
func sign(model, text string, number int) string {
	var all []byte
	for i := range 4 {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s|%s|%d|%d", model, text, number, i))
		all = append(all, sum[:]...)
	}
	return base64.StdEncoding.EncodeToString(all)
}

// events writes a stream and keeps its text. It breaks off after cut events, and is silent from
// event stall on.
type events struct {
	w      http.ResponseWriter
	text   strings.Builder
	r      *http.Request
	cut    int
	stall  int
	count  int
	broken bool
}

func (e *events) send(kind, members string) {
	if e.broken {
		return
	}
	if e.count++; e.cut > 0 && e.count > e.cut {
		e.broken = true
		return
	}
	if e.count == e.stall {
		<-e.r.Context().Done()
		e.broken = true
		return
	}
	if members != "" {
		members = "," + members
	}
	event := fmt.Sprintf("event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, members)
	e.text.WriteString(event)
	_, _ = io.WriteString(e.w, event)
	if f, ok := e.w.(http.Flusher); ok {
		f.Flush()
	}
}

// block streams one block: texts in three pieces, arguments in pieces of 5 bytes.
func (e *events) block(index int, b *block, silent bool) {
	start := func(members string) {
		e.send("content_block_start", fmt.Sprintf(`"index":%d,"content_block":{"type":%q%s}`, index, b.Type, members))
	}
	delta := func(kind, member, text string) {
		quoted, _ := json.Marshal(text)
		e.send("content_block_delta", fmt.Sprintf(`"index":%d,"delta":{"type":%q,%q:%s}`, index, kind, member, quoted))
	}
	switch b.Type {
	case "text":
		start(`,"text":""`)
		for _, piece := range pieces(*b.Text, (len(*b.Text)+2)/3) {
			delta("text_delta", "text", piece)
		}
	case "thinking":
		start(`,"thinking":"","signature":""`)
		if !silent {
			for _, piece := range pieces(*b.Thinking, (len(*b.Thinking)+2)/3) {
				delta("thinking_delta", "thinking", piece)
			}
		}
		delta("signature_delta", "signature", b.Signature)
	case "redacted_thinking":
		start(fmt.Sprintf(`,"data":%q`, b.Data))
	case "tool_use":
		start(fmt.Sprintf(`,"id":%q,"name":%q,"input":{}`, b.ID, b.Name))
		delta("input_json_delta", "partial_json", "")
		if string(b.Input) != "{}" { // a call without arguments has no pieces of them
			for _, piece := range pieces(string(b.Input), 5) {
				delta("input_json_delta", "partial_json", piece)
			}
		}
	}
	e.send("content_block_stop", fmt.Sprintf(`"index":%d`, index))
}

// pieces cuts a text into pieces of about size bytes and of whole characters.
func pieces(text string, size int) []string {
	var list []string
	for len(text) > 0 {
		n := min(max(size, 1), len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		list, text = append(list, text[:n]), text[n:]
	}
	return list
}
