package responsestest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"
)

// usage is that of each answer.
const usage = `{"input_tokens":125,"input_tokens_details":{"cached_tokens":100},"output_tokens":50,"output_tokens_details":{"reasoning_tokens":20},"total_tokens":175}`

// output is an item of an answer before it is streamed.
type output struct {
	kind, id, head string // head are members that it begins with
	texts          []string
	encrypted      string
	callID, name   string
	refusal, raw   bool
}

// stream answers with a step, in the events and with the members of the API
// (developers.openai.com/api/reference/resources/responses, Streaming events), a keepalive and
// an event of an unknown type among them. It returns what was sent.
func (s *Server) stream(w http.ResponseWriter, step *Step, request []byte, number int) string {
	var asked struct{ Model string }
	_ = json.Unmarshal(request, &asked)
	items := outputs(step, asked.Model, number)
	var done []string
	for i, o := range items {
		known := written{raw: o.json(""), model: asked.Model, kind: o.kind, phase: o.phase()}
		if i+1 < len(items) {
			known.next = items[i+1].id
		}
		if i > 0 && items[i-1].kind == "reasoning" {
			known.reasoning = items[i-1].id
		}
		s.written[o.id] = known
		done = append(done, o.json("completed"))
	}
	whole := func(status string, list []string, rest string) string {
		return fmt.Sprintf(`{"id":"resp_%d","object":"response","created_at":1760000000,"status":%q,"model":%q,"output":[%s],"store":false%s}`,
			number, status, asked.Model, strings.Join(list, ","), rest)
	}
	if step.Whole {
		text := whole("completed", done, `,"usage":`+usage)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
		return text
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	out := &events{w: w, cut: step.Cut}
	defer func() {
		if out.broken {
			panic(http.ErrAbortHandler)
		}
	}()
	out.send("response.created", `"response":`+whole("in_progress", nil, ""))
	out.send("response.in_progress", `"response":`+whole("in_progress", nil, ""))
	out.send("keepalive", "")
	for i := range items {
		out.item(i, &items[i])
		switch {
		case step.Error != "":
			out.send("error", fmt.Sprintf(`"code":%q,"message":"The server had an error.","param":null`, step.Error))
			return out.text.String()
		case step.Failed != "":
			out.send("response.failed", `"response":`+whole("failed", done[:i+1], fmt.Sprintf(`,"error":{"code":%q,"message":"It failed."}`, step.Failed)))
			return out.text.String()
		}
	}
	if !s.Known {
		out.send("response.of_the_future", `"delta":"never shown"`)
	}
	if step.Incomplete != "" {
		out.send("response.incomplete", `"response":`+whole("incomplete", done, fmt.Sprintf(`,"incomplete_details":{"reason":%q},"usage":%s`, step.Incomplete, usage)))
	} else {
		out.send("response.completed", `"response":`+whole("completed", done, `,"usage":`+usage))
	}
	return out.text.String()
}

// outputs are the items of a step.
func outputs(step *Step, model string, number int) []output {
	var list []output
	id := func(kind string) string { return fmt.Sprintf("%s_%d_%d", kind, number, len(list)) }
	think := func() {
		if len(step.Thoughts) == 0 && !step.Silent && step.Raw == "" {
			return
		}
		o := output{kind: "reasoning", id: id("rs"), texts: step.Thoughts}
		o.encrypted = sign(model, o.id)
		if step.Raw != "" {
			o.raw, o.texts = true, []string{step.Raw}
		}
		list = append(list, o)
	}
	think()
	if step.Comment != "" {
		list = append(list, output{kind: "message", id: id("msg"), head: `"phase":"commentary",`, texts: []string{step.Comment}})
	}
	for i, call := range step.Calls {
		if step.Between && i > 0 {
			think()
		}
		list = append(list, output{kind: "function_call", id: id("fc"), callID: fmt.Sprintf("call_%d_%d", number, i), name: call.Name, texts: []string{call.Arguments}})
	}
	switch {
	case step.Refusal != "":
		list = append(list, output{kind: "message", id: id("msg"), texts: []string{step.Refusal}, refusal: true})
	case step.Text != "":
		list = append(list, output{kind: "message", id: id("msg"), head: `"phase":"final_answer",`, texts: []string{step.Text}})
	}
	return list
}

// phase is that of a message.
func (o *output) phase() string {
	var head struct{ Phase string }
	_ = json.Unmarshal([]byte("{"+strings.TrimSuffix(o.head, ",")+"}"), &head)
	return head.Phase
}

// json is the item as a whole; without a status it is as it comes back.
func (o *output) json(status string) string {
	if status != "" {
		status = fmt.Sprintf(`,"status":%q`, status)
	}
	switch o.kind {
	case "reasoning":
		var parts []string
		for _, text := range o.texts {
			kind := "summary_text"
			if o.raw {
				kind = "reasoning_text"
			}
			parts = append(parts, fmt.Sprintf(`{"type":%q,"text":%s}`, kind, quote(text)))
		}
		list := strings.Join(parts, ",")
		if o.raw {
			return fmt.Sprintf(`{"id":%q,"type":"reasoning","summary":[],"content":[%s],"encrypted_content":%q%s}`, o.id, list, o.encrypted, status)
		}
		return fmt.Sprintf(`{"id":%q,"type":"reasoning","summary":[%s],"encrypted_content":%q%s}`, o.id, list, o.encrypted, status)
	case "function_call":
		return fmt.Sprintf(`{"id":%q,"type":"function_call"%s,"arguments":%s,"call_id":%q,"name":%q}`, o.id, status, quote(o.texts[0]), o.callID, o.name)
	}
	content := `{"type":"output_text","annotations":[],"logprobs":[],"text":` + quote(o.texts[0]) + `}`
	if o.refusal {
		content = `{"type":"refusal","refusal":` + quote(o.texts[0]) + `}`
	}
	return fmt.Sprintf(`{"id":%q,"type":"message"%s,%s"content":[%s],"role":"assistant"}`, o.id, status, o.head, content)
}

// quote writes a text as the API does: what is not ASCII stays as it is, and < and > too.
func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text)
	return strings.TrimSpace(b.String())
}

// sign makes encrypted content with all the characters of base64, and longer than a line.
func sign(model, id string) string {
	var all []byte
	for i := range 6 {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s|%s|%d", model, id, i))
		all = append(all, sum[:]...)
	}
	return "gAAAAA" + base64.StdEncoding.EncodeToString(all)
}

// events writes a stream and remembers it.
type events struct {
	w      http.ResponseWriter
	text   strings.Builder
	cut    int
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
	if members != "" {
		members = "," + members
	}
	event := fmt.Sprintf("event: %s\ndata: {\"type\":%q,\"sequence_number\":%d%s}\n\n", kind, kind, e.count-1, members)
	e.text.WriteString(event)
	_, _ = io.WriteString(e.w, event)
	if f, ok := e.w.(http.Flusher); ok {
		f.Flush()
	}
}

// item streams one item. What an item holds when it is added may not be whole, also of its
// encrypted content (the official SDK's ResponseReasoningItem).
func (e *events) item(index int, o *output) {
	at := fmt.Sprintf(`"item_id":%q,"output_index":%d`, o.id, index)
	empty := *o
	empty.texts = nil
	if o.encrypted != "" {
		empty.encrypted = o.encrypted[:8]
	}
	if o.kind != "reasoning" {
		empty.texts = []string{""}
	}
	added := empty.json("in_progress")
	if o.kind == "message" {
		added = fmt.Sprintf(`{"id":%q,"type":"message","status":"in_progress",%s"content":[],"role":"assistant"}`, o.id, o.head)
	}
	e.send("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, index, added))
	switch o.kind {
	case "reasoning":
		e.thoughts(at, o)
	case "function_call":
		for _, piece := range pieces(o.texts[0], 5) {
			e.send("response.function_call_arguments.delta", at+`,"delta":`+quote(piece)+`,"obfuscation":"x"`)
		}
		e.send("response.function_call_arguments.done", at+`,"arguments":`+quote(o.texts[0]))
	default:
		e.message(at, o)
	}
	e.send("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, index, o.json("completed")))
}

func (e *events) thoughts(at string, o *output) {
	for i, text := range o.texts {
		kind, number := "reasoning_summary_text", fmt.Sprintf(`,"summary_index":%d`, i)
		if o.raw {
			kind, number = "reasoning_text", fmt.Sprintf(`,"content_index":%d`, i)
		} else {
			e.send("response.reasoning_summary_part.added", at+number+`,"part":{"type":"summary_text","text":""}`)
		}
		for _, piece := range pieces(text, (len(text)+2)/3) {
			e.send("response."+kind+".delta", at+number+`,"delta":`+quote(piece))
		}
		e.send("response."+kind+".done", at+number+`,"text":`+quote(text))
		if !o.raw {
			e.send("response.reasoning_summary_part.done", at+number+`,"part":{"type":"summary_text","text":`+quote(text)+`}`)
		}
	}
}

func (e *events) message(at string, o *output) {
	kind, member, part := "output_text", "text", `{"type":"output_text","annotations":[],"text":`
	if o.refusal {
		kind, member, part = "refusal", "refusal", `{"type":"refusal","refusal":`
	}
	at += `,"content_index":0`
	e.send("response.content_part.added", at+`,"part":`+part+`""}`)
	for _, piece := range pieces(o.texts[0], (len(o.texts[0])+2)/3) {
		e.send("response."+kind+".delta", at+`,"delta":`+quote(piece))
	}
	e.send("response."+kind+".done", at+fmt.Sprintf(`,%q:%s`, member, quote(o.texts[0])))
	e.send("response.content_part.done", at+`,"part":`+part+quote(o.texts[0])+`}`)
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
