package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// The limits of what a server says of its tools.
const (
	// maxTools bounds the tools of one server.
	maxTools = 1000
	// maxDescription bounds the description of a tool, in characters, as tool_search gives
	// it; the request holds less (R90). maxFieldText is for the texts of a schema.
	maxDescription, maxFieldText = 4000, 400
	// maxSchema bounds a schema, in bytes.
	maxSchema = 64 << 10
)

// convert makes tools of what a server lists. One that cannot be used is dropped with the
// reason, and the others are there (R90).
func (l *link) convert(listed []*sdk.Tool, about string) (list []tools.Tool, names []Name, dropped []Dropped) {
	taken := map[string]bool{}
	for _, offered := range listed {
		drop := func(reason string) {
			dropped = append(dropped, Dropped{Kind: "tool", Name: kinds.Line(offered.Name, maxFieldText), Reason: reason})
		}
		id := toolID(l.id, offered.Name)
		schema, err := schemaOf(offered.InputSchema)
		switch {
		case taken[id]:
			drop("the server lists this name twice")
			continue
		case err != nil:
			drop(kinds.Line(err.Error(), maxFieldText))
			continue
		}
		name := offered.Name
		tool := tools.Tool{
			Spec: tools.Spec{
				ID: id, Description: l.describe(offered), Parameters: schema,
				Source: tools.Source{Kind: tools.MCP, Server: l.id, Name: name, About: about}, Aliases: l.alias(name),
				Origin: l.server.Provenance, SaysReadOnly: offered.Annotations != nil && offered.Annotations.ReadOnlyHint,
			},
			Run: func(ctx context.Context, rt tools.Runtime, args tools.Args) (*tools.Result, error) {
				return l.call(ctx, rt, name, args.Raw())
			},
		}
		if _, err := tools.NewRegistry(tool); err != nil {
			drop(kinds.Line(errors.Unwrap(err).Error(), maxFieldText))
			continue
		}
		taken[id] = true
		list = append(list, tool)
		names = append(names, Name{ID: id, Tool: name})
	}
	// Servers list in any order, and the head of a request is to stay as it was.
	slices.SortFunc(list, func(a, b tools.Tool) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(names, func(a, b Name) int { return cmp.Compare(a.ID, b.ID) })
	return list, names, dropped
}

// alias is the name by which other agents know the tool (R89), unless it is one of ours:
// a rule that was written for that must not hold for this.
func (l *link) alias(tool string) []tools.Alias {
	name := l.id + "_" + tool
	if plain(name) != name || len(name) > maxID || l.reserved(name) || strings.Contains(name, "__") {
		return nil
	}
	return []tools.Alias{{Name: name}}
}

// reserved reports whether a name is the id of one of the agent's own tools.
func (l *link) reserved(name string) bool {
	return l.manager.o.Reserved != nil && l.manager.o.Reserved(name)
}

// describe is what the model reads of a tool.
func (l *link) describe(offered *sdk.Tool) string {
	text := clean(offered.Description, maxDescription)
	if strings.TrimSpace(text) == "" {
		title := offered.Title
		if title == "" && offered.Annotations != nil {
			title = offered.Annotations.Title
		}
		text = clean(cmp.Or(strings.TrimSpace(title), offered.Name+" of the MCP server "+l.server.Name), maxFieldText)
	}
	return text
}

// clean takes out of a foreign text what no one could see, and cuts it.
func clean(text string, most int) string {
	if len(text) > most*utf8.UTFMax {
		text = text[:most*utf8.UTFMax]
	}
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && kinds.Visible(string(r)) != string(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most-1]) + "…"
	}
	return text
}

// schemaOf reads the schema of a tool's arguments.
func schemaOf(offered any) (*jsonschema.Schema, error) {
	object, ok := offered.(map[string]any)
	if !ok {
		return nil, errors.New("its schema is no object")
	}
	tidy(object)
	if object["type"] == nil {
		object["type"] = "object"
	}
	raw, err := json.Marshal(object)
	switch {
	case err != nil:
		return nil, err
	case len(raw) > maxSchema:
		return nil, fmt.Errorf("its schema is longer than %d bytes", maxSchema)
	}
	if err := tools.CheckSchemaLoops(raw); err != nil { // before it is read, which takes long of a deep one
		return nil, err
	}
	schema := &jsonschema.Schema{}
	if err := json.Unmarshal(raw, schema); err != nil {
		return nil, fmt.Errorf("its schema cannot be read: %w", err)
	}
	return schema, nil
}

// tidy cleans the texts of a schema, and takes out patterns in a dialect of JavaScript's
// that we cannot apply: the server applies them itself.
func tidy(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, child := range value {
			text, isText := child.(string)
			switch {
			case isText && (key == "description" || key == "title" || key == "$comment"):
				value[key] = clean(text, maxFieldText)
			case isText && key == "pattern":
				if _, err := regexp.Compile(text); err != nil {
					delete(value, key)
				}
			case key == "enum", key == "const", key == "default", key == "examples":
			default:
				tidy(child)
			}
		}
	case []any:
		for _, child := range value {
			tidy(child)
		}
	}
}
