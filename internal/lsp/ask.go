package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"acp-agent/internal/fileuri"
	"acp-agent/internal/pathname"
)

// maxText bounds a file that is read to count columns in it.
const maxText = 10_000_000

// ask puts the query to the server.
func (c *connection) ask(ctx context.Context, q Query) (*Answer, error) {
	version, done, err := c.show(ctx, q)
	if err != nil {
		return nil, err
	}
	defer done()
	answer := &Answer{Server: c.server.Name}
	switch q.Operation {
	case Definitions, References:
		answer.Locations, err = c.places(ctx, q)
	case Diagnostics:
		answer.Diagnostics, err = c.findings(ctx, q, version)
	default:
		err = fmt.Errorf("unknown operation %q", q.Operation)
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// places asks for definitions or references. An empty answer of a server that is
// still reading its project is asked for again when that is done.
func (c *connection) places(ctx context.Context, q Query) ([]Location, error) {
	params := placeParams{TextDocument: document{fileuri.Of(q.Path)}, Position: c.encoding.place(q.Text, q.Line, q.Column)}
	method := "textDocument/definition"
	if q.Operation == References {
		method = "textDocument/references"
		params.Context = &referenceScope{IncludeDeclaration: true}
	}
	for {
		var raw json.RawMessage
		if err := c.call(ctx, method, params, &raw); err != nil {
			return nil, err
		}
		found, err := decodeLocations(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.server.Name, err)
		}
		if len(found) == 0 {
			wasBusy, err := c.rested(ctx)
			if err != nil {
				return nil, err
			}
			if wasBusy {
				continue
			}
		}
		return c.locations(q, found), nil
	}
}

// locations counts places as people do.
func (c *connection) locations(q Query, found []wireLocation) []Location {
	texts := map[string]string{q.Path: q.Text}
	var list []Location
	for _, l := range found {
		path, ok := fileuri.Path(l.URI)
		if !ok {
			continue // something that is not a file
		}
		text, known := texts[path]
		if !known {
			text = c.read(path)
			texts[path] = text
		}
		at := Location{Path: path, Line: l.Range.Start.Line + 1, Column: l.Range.Start.Character + 1}
		if line := lineOf(text, at.Line); line != "" {
			at.Column = c.encoding.column(line, l.Range.Start.Character)
		}
		if !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	return list
}

// findings asks for what is wrong with the file, or waits to be told. What was
// published beside an answer, such as a compiler's findings, is added.
func (c *connection) findings(ctx context.Context, q Query, version int) ([]Diagnostic, error) {
	var found []wireDiagnostic
	if c.pulls {
		var report diagnosticReport
		if err := c.call(ctx, "textDocument/diagnostic", documentParams{document{fileuri.Of(q.Path)}}, &report); err != nil {
			return nil, err
		}
		found = report.Items
		if f, told, _ := c.news.of(q.Path, version); told {
			found = append(found, f.items...)
		}
	} else {
		var err error
		if found, err = c.published(ctx, q.Path, version); err != nil {
			return nil, err
		}
	}
	var list []Diagnostic
	for _, w := range found {
		line := w.Range.Start.Line + 1
		d := Diagnostic{
			Path: q.Path, Line: line, Column: c.encoding.column(lineOf(q.Text, line), w.Range.Start.Character),
			Severity: w.severity(), Message: w.Message, Source: w.Source, Code: w.code(),
		}
		if !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	slices.SortStableFunc(list, func(a, b Diagnostic) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return list, nil
}

// read returns the text of a file below the root, to count columns in it and for
// nothing else; "" when there is none.
func (c *connection) read(path string) string {
	if !pathname.Contains(c.root, path) {
		return ""
	}
	f, err := c.o.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	var text strings.Builder
	if n, err := io.Copy(&text, io.LimitReader(f, maxText+1)); err != nil || n > maxText {
		return ""
	}
	return text.String()
}
