package mcp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/kinds"
	"acp-agent/tools"
)

const (
	// readerName is the tool that reads resources, as if the server had it.
	readerName = "read_resource"
	// pageSize is how many resources it lists at a time.
	pageSize = 100
)

// ReaderID is the id of the tool that reads the resources of a server, by the server's id.
func ReaderID(server string) string { return toolID(server, readerName) }

// reader is the tool that lists and reads what a server has to be read. It passes through
// the same questions as the server's own tools (R92).
func (l *link) reader() tools.Tool {
	return tools.Tool{
		Spec: tools.Spec{
			ID: ReaderID(l.id), Kind: kinds.Read, Source: tools.Source{Kind: tools.MCP, Server: l.id, Name: readerName}, Aliases: l.alias(readerName),
			Origin:      l.server.Provenance,
			Description: "Reads a resource of the MCP server " + l.id + " by its uri. Without a uri it lists the resources and templates of uris that there are.",
			Parameters: &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}, Properties: map[string]*jsonschema.Schema{
				"uri":    {Type: "string", Description: "What to read: a uri of the list, or a template with its braces filled in. Leave it out for the list."},
				"cursor": {Type: "string", Description: "Where the list goes on, as its last page says."},
			}},
		},
		Run: func(ctx context.Context, rt tools.Runtime, given tools.Args) (*tools.Result, error) {
			args, err := tools.Decode[struct{ URI, Cursor string }](ctx, given)
			if err != nil {
				return nil, tools.Errorf(tools.BadInput, "arguments of %s: %v", readerName, err)
			}
			if args.URI != "" {
				return l.readResource(ctx, rt, args.URI)
			}
			return l.listPage(ctx, rt, args.Cursor)
		},
	}
}

// page is one page of what there is to be read. The templates stand on the first.
type page struct {
	Resources []Resource `json:"resources"`
	Templates []Resource `json:"templates,omitempty"`
	Cursor    string     `json:"next_cursor,omitempty"`
}

// listPage asks the server for its list anew, and returns a page of it.
func (l *link) listPage(ctx context.Context, rt tools.Runtime, cursor string) (*tools.Result, error) {
	from := 0
	if cursor != "" {
		var err error
		if from, err = strconv.Atoi(cursor); err != nil || from < 0 {
			return nil, tools.Errorf(tools.BadInput, "cursor %q is none that a page of the list named", kinds.Line(cursor, maxFieldText))
		}
	}
	all, err := ask(ctx, l, rt, func(ctx context.Context, c *connection, _ string) (page, error) {
		resources, templates, _, err := c.resources(ctx)
		return page{Resources: resources, Templates: templates}, err
	})
	if err != nil {
		return nil, err
	}
	now := page{Resources: all.Resources[min(from, len(all.Resources)):]}
	if from == 0 {
		now.Templates = all.Templates
	}
	if len(now.Resources) > pageSize {
		now.Resources, now.Cursor = now.Resources[:pageSize], strconv.Itoa(from+pageSize)
	}
	now.Resources = slices.Concat([]Resource{}, now.Resources) // JSON has no null for it
	return &tools.Result{Data: now, Text: now.text(l.id)}, nil
}

// text is a page as the model reads it.
func (p *page) text(server string) string {
	var b strings.Builder
	list := func(resources []Resource) {
		for _, r := range resources {
			fmt.Fprintf(&b, "- %s", r.URI)
			for _, more := range []string{r.Name, r.Description, r.MediaType} {
				if more != "" {
					b.WriteString("; " + more)
				}
			}
			b.WriteByte('\n')
		}
	}
	if len(p.Resources) == 0 {
		fmt.Fprintf(&b, "The MCP server %s lists no resources here.\n", server)
	} else {
		fmt.Fprintf(&b, "Resources of the MCP server %s:\n", server)
		list(p.Resources)
	}
	if len(p.Templates) > 0 {
		b.WriteString("Templates; fill in what stands in braces:\n")
		list(p.Templates)
	}
	if p.Cursor != "" {
		fmt.Fprintf(&b, "There are more: call again with cursor %q.\n", p.Cursor)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
