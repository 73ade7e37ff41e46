package editor

import "strings"

// Acpx is acpx, a client for the command line, as a terminal shows it. Cards are printed
// when they begin and when they end, with text, of diffs the file and the number of lines,
// of terminals the id alone, and what rawOutput holds. A question is the title and y or N,
// which send the first option that allows or rejects.
//
// Sources, openclaw/acpx at 3d452d5: src/client.ts, src/permissions.ts, src/output.ts.
var Acpx Editor = acpx{}

type acpx struct{}

func (acpx) Name() string { return "acpx" }

func (acpx) Params() string {
	return `{"protocolVersion":1,"clientInfo":{"name":"acpx","version":"0.1.0"},` +
		`"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}}`
}

func (acpx) Drops(string) bool { return false }

func (acpx) Apply(_ *Screen, c *Card, call map[string]any, by Source) {
	if by != Asked {
		c.merge(call)
	}
}

func (acpx) Look(_ *Screen, c *Card) View {
	v := View{Title: c.Title, Busy: c.busy()}
	for _, p := range parts(c.Content) {
		if p.Kind != "terminal" {
			v.Parts = append(v.Parts, p)
		}
	}
	if output := strings.Join(texts(c.Output), "\n"); output != "" {
		v.Parts = append(v.Parts, Part{Kind: "text", Text: output})
	}
	return v
}

// texts are the strings in a raw output, wherever they stand.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, item := range v {
			all = append(all, texts(item)...)
		}
		return all
	case map[string]any:
		var all []string
		for _, item := range v {
			all = append(all, texts(item)...)
		}
		return all
	}
	return nil
}

func (acpx) Never(p Part) string {
	if p.Kind == "image" {
		return "a terminal shows no pictures"
	}
	return ""
}

func (acpx) Ask(_ *Screen, c *Card, call map[string]any, options []Option) Question {
	title := text(call["title"])
	if title == "" {
		title = c.Title
	}
	q := Question{Title: "Allow " + title + "?"}
	for _, side := range []struct{ label, verdict string }{{"y", "allow"}, {"N", "reject"}} {
		for _, scope := range []string{"_once", "_always"} {
			if o, ok := kindOf(options, side.verdict+scope, true); ok {
				q.Choices = append(q.Choices, Choice{Label: side.label, Presses: o, Sends: o})
				break
			}
		}
	}
	return q
}
