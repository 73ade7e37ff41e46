package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"acp-agent/internal/textcut"
	"acp-agent/tools"
)

// rendered is a result in the form that leaves the pipeline: encoded once, and within its bounds.
type rendered struct {
	// text is what the model reads, data the tool's own JSON.
	text string
	data json.RawMessage
	// truncated says that the result was cut; path is the file with the whole of it.
	truncated bool
	path      string
}

// render encodes the result, cut at Limits.ResultBytes unless the tool bounds its own output (R105,
// R106, R108). A result may run code of the tool when it is encoded, and that may panic (R7).
func (e *ending) render(context.Context) (err error) {
	if e.execution.result == nil || e.rendered != nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			e.execution.result, e.rendered = nil, nil
			err = e.pipeline.panicked(e.Tool, e.ID, v)
		}
	}()
	if e.entry.Foreign() {
		e.distrust()
	}
	text := e.redact(e.execution.result.ModelText()) // before it is cut: half a key would not be known as one
	limit := e.pipeline.Limits.ResultBytes
	uncapped := e.entry.OwnLimit || e.execution.result.Truncated || limit <= 0
	textIsData := e.execution.result.Text == ""
	plain, isString := e.execution.result.Data.(string)
	if isString && textIsData && !uncapped && len(text) > limit {
		cut := e.cut(text) // as JSON, the data would be as large again
		cut.data = asJSON(map[string]string{"head": textcut.First(text, limit)})
		e.rendered = &cut
		return nil
	}
	data := asJSON(e.execution.result.Data)
	fits := len(data) <= 2*limit // data with the text in it is longer than the text, by its other fields and by escapes
	switch {
	case uncapped, len(text) <= limit && (fits || textIsData):
		e.rendered = &rendered{text: text, data: data, truncated: e.execution.result.Truncated, path: e.execution.result.OutputPath}
	case len(text) <= limit: // only the data is large, which the model does not read
		whole := string(data)
		if isString {
			whole = plain
		}
		cut := rendered{text: text, data: asJSON(withHead(data, textcut.First(whole, limit), limit)), truncated: true}
		if path, err := e.spill(whole); err == nil {
			cut.path = path
		}
		e.rendered = &cut
	case fits && !textIsData:
		cut := e.cut(text)
		cut.data = data
		e.rendered = &cut
	default:
		cut := e.cut(text)
		cut.data = asJSON(withHead(data, textcut.First(text, limit), limit))
		e.rendered = &cut
	}
	return nil
}

// asJSON encodes a value; a value without a JSON form becomes the JSON string of its text.
func asJSON(value any) json.RawMessage {
	data, err := json.Marshal(value)
	if err != nil {
		data, _ = json.Marshal(fmt.Sprint(value))
	}
	return data
}

// cut bounds a text at Limits.ResultBytes and keeps the whole in a sidecar (R106).
func (e *ending) cut(text string) rendered {
	limit := e.pipeline.Limits.ResultBytes
	if limit <= 0 || len(text) <= limit {
		return rendered{text: text}
	}
	s := rendered{truncated: true}
	s.text = textcut.First(text, limit) + fmt.Sprintf("\n\n[Tool result truncated: %dKB exceeds limit. Please refine the query.]",
		int(math.Round(float64(len(text))/1024)))
	path, err := e.spill(text)
	if err != nil {
		s.text += "\nThe rest could not be kept: " + err.Error()
		return s
	}
	s.path = path
	s.text += "\nThe whole result is in " + path
	return s
}

// Bounds of the fields that a cut object keeps in addition to its head, in bytes: of each field, and
// of all fields.
const (
	keptField  = 1 << 10
	keptFields = 16 << 10
)

// withHead returns the data of a cut result (R105): for an object its small fields and the head, for an
// array as many elements as fit, and for anything else the head alone.
func withHead(data json.RawMessage, head string, limit int) any {
	switch data[0] {
	case '[':
		if elements, ok := firstElements(data, limit); ok {
			return map[string]any{"head": elements}
		}
	case '{':
		var object map[string]json.RawMessage
		if json.Unmarshal(data, &object) == nil {
			return keepSmall(object, head)
		}
	}
	return map[string]any{"head": head}
}

func keepSmall(object map[string]json.RawMessage, head string) map[string]any {
	cut, room := map[string]any{"head": head}, keptFields
	for _, name := range slices.Sorted(maps.Keys(object)) {
		size := len(name) + len(object[name])
		if name == "head" || size > keptField || size > room {
			continue
		}
		cut[name] = object[name]
		room -= size
	}
	return cut
}

// firstElements returns the first elements of an array, as many as fit into limit bytes.
func firstElements(data json.RawMessage, limit int) ([]json.RawMessage, bool) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if _, err := decoder.Token(); err != nil {
		return nil, false
	}
	elements := []json.RawMessage{}
	for decoder.More() {
		var element json.RawMessage
		if err := decoder.Decode(&element); err != nil {
			return nil, false
		}
		if limit -= len(element) + 1; limit < 0 {
			break
		}
		elements = append(elements, element)
	}
	return elements, true
}

// spill writes a text to a sidecar and returns its path.
func (e *ending) spill(text string) (path string, err error) {
	if e.execution.runtime == nil {
		return "", errors.New("the call was never run")
	}
	return tools.SaveSidecar(e.execution.runtime, text)
}
