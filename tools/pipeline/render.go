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

// shown is a result in the form that leaves the pipeline: written out once, and
// within its bounds.
type shown struct {
	// text is what the model reads, data the tool's own JSON.
	text string
	data json.RawMessage
	// truncated and path say that it is not the whole, and where that stands.
	truncated bool
	path      string
}

// render writes the result out, cut at the general cap unless the tool bounds
// its own output (R105, R106, R108). What a tool hands back is its own code too,
// which may panic when it is written (R7).
func (e *ending) render(context.Context) (err error) {
	if e.execution.result == nil || e.shown != nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			e.execution.result, e.shown = nil, nil
			err = e.pipeline.panicked(e.Tool, e.ID, v)
		}
	}()
	if e.entry.Foreign() {
		e.distrust()
	}
	text := e.clean(e.execution.result.ModelText()) // before it is cut: half a key would not be known as one
	limit := e.pipeline.Limits.ResultBytes
	free := e.entry.OwnLimit || e.execution.result.Truncated || limit <= 0
	same := e.execution.result.Text == "" // the text is the data
	plain, isText := e.execution.result.Data.(string)
	if isText && same && !free && len(text) > limit {
		cut := e.cut(text) // written out, it would be as large again
		cut.data = written(map[string]string{"head": textcut.First(text, limit)})
		e.shown = &cut
		return nil
	}
	data := written(e.execution.result.Data)
	fits := len(data) <= 2*limit
	switch {
	case free, len(text) <= limit && (fits || same):
		e.shown = &shown{text: text, data: data, truncated: e.execution.result.Truncated, path: e.execution.result.OutputPath}
	case len(text) <= limit: // what is large is the data, which the model does not read
		whole := string(data)
		if isText {
			whole = plain
		}
		cut := shown{text: text, data: written(withHead(data, textcut.First(whole, limit), limit)), truncated: true}
		if path, err := e.spill(whole); err == nil {
			cut.path = path
		}
		e.shown = &cut
	case fits && !same:
		cut := e.cut(text)
		cut.data = data
		e.shown = &cut
	default:
		cut := e.cut(text)
		cut.data = written(withHead(data, textcut.First(text, limit), limit))
		e.shown = &cut
	}
	return nil
}

// written is a value as JSON; what has no JSON form is its text.
func written(value any) json.RawMessage {
	data, err := json.Marshal(value)
	if err != nil {
		data, _ = json.Marshal(fmt.Sprint(value))
	}
	return data
}

// cut bounds a text at the general cap and keeps the whole in a sidecar (R106).
func (e *ending) cut(text string) shown {
	limit := e.pipeline.Limits.ResultBytes
	if limit <= 0 || len(text) <= limit {
		return shown{text: text}
	}
	s := shown{truncated: true}
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

// keptFields bounds what a cut object keeps beside its head: each field, and all
// of them.
const (
	keptField  = 1 << 10
	keptFields = 16 << 10
)

// withHead is the data of a cut result (R105): of an object its own small fields
// with the head, of an array as many of its elements as there is room for, and
// of anything else the head alone.
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

// firstElements are the first elements of an array that fit into limit bytes.
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

// spill writes a text to a sidecar.
func (e *ending) spill(text string) (path string, err error) {
	if e.execution.runtime == nil {
		return "", errors.New("the call was never run")
	}
	return tools.SaveSidecar(e.execution.runtime, text)
}
