package editor

import (
	"encoding/json"
	"strings"
)

// The members of decoded JSON, and what of them makes a card.

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }
func list(v any) []any            { l, _ := v.([]any); return l }
func text(v any) string           { s, _ := v.(string); return s }

// dig walks down members; nil when there is none.
func dig(v any, path ...string) any {
	for _, name := range path {
		v = object(v)[name]
	}
	return v
}

// merge is what most editors do with the members of a call: each that comes replaces the one before.
func (c *Card) merge(call map[string]any) {
	if v, ok := call["title"].(string); ok {
		c.Title = v
	}
	if v, ok := call["kind"].(string); ok {
		c.Kind = v
	}
	if v, ok := call["status"].(string); ok {
		c.Status = v
	}
	if v, ok := call["content"].([]any); ok {
		c.Content = v
	}
	if v, ok := call["locations"].([]any); ok {
		c.Locations = v
	}
	if v := call["rawInput"]; v != nil {
		c.Input = v
	}
	if v := call["rawOutput"]; v != nil {
		c.Output = v
	}
}

// busy reports whether the call has not ended by its status.
func (c *Card) busy() bool { return c.Status != "completed" && c.Status != "failed" }

// parts reads the content of a call.
func parts(content []any) []Part {
	var all []Part
	for _, item := range content {
		switch text(dig(item, "type")) {
		case "content":
			if p, ok := block(dig(item, "content")); ok {
				all = append(all, p)
			}
		case "diff":
			old, had := dig(item, "oldText").(string)
			all = append(all, Part{Kind: "diff", Path: text(dig(item, "path")), Old: old, New: text(dig(item, "newText")), Fresh: !had})
		case "terminal":
			all = append(all, Part{Kind: "terminal", ID: text(dig(item, "terminalId"))})
		}
	}
	return all
}

func block(v any) (Part, bool) {
	switch text(dig(v, "type")) {
	case "text":
		return Part{Kind: "text", Text: text(dig(v, "text"))}, true
	case "image":
		return Part{Kind: "image", Text: text(dig(v, "mimeType"))}, true
	case "resource_link":
		return Part{Kind: "text", Text: text(dig(v, "uri"))}, true
	case "resource":
		return Part{Kind: "text", Text: text(dig(v, "resource", "text"))}, true
	}
	return Part{}, false
}

// optionsOf reads the options of a permission request.
func optionsOf(v any) []Option {
	var all []Option
	for _, o := range list(v) {
		all = append(all, Option{ID: text(dig(o, "optionId")), Kind: text(dig(o, "kind")), Name: text(dig(o, "name"))})
	}
	return all
}

// kindOf returns the last option of a kind, or the first one if first is set.
func kindOf(options []Option, kind string, first bool) (found Option, ok bool) {
	for _, o := range options {
		if o.Kind == kind {
			found, ok = o, true
			if first {
				return found, ok
			}
		}
	}
	return found, ok
}

// firstLine is a title as editors cut it.
func firstLine(s string) string {
	if line, _, cut := strings.Cut(s, "\n"); cut {
		return line + "…"
	}
	return s
}

// base is the last element of a path.
func base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// flat joins words by one space, so that texts compare however they are laid out.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
