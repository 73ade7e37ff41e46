package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// The limits of what a server lists to be read.
const (
	// maxResources bounds the resources of one server, maxTemplates the templates.
	maxResources, maxTemplates = 1000, 100
	// maxURI bounds an address, in characters.
	maxURI = 2000
)

// Resource is something that a server lists to be read, or a template of such, whose URI
// has names in braces. The texts are one line each, cleaned and cut to 200 characters.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	MediaType   string `json:"media_type,omitempty"`
}

// resources asks the server what it lists to be read. A server without templates need not
// know of them.
func (c *connection) resources(ctx context.Context) (resources, templates []Resource, dropped []Dropped, err error) {
	drop := func(name, reason string) {
		if reason != "" {
			dropped = append(dropped, Dropped{Kind: "resource", Name: kinds.Line(clean(name, maxURI), maxFieldText), Reason: reason})
		}
	}
	listed, rest, err := collect(c.session.Resources(ctx, nil), maxResources, "resources")
	if err != nil {
		return nil, nil, nil, err
	}
	drop("others", rest)
	for _, r := range listed {
		resource, reason := resourceOf(r.URI, cmp.Or(r.Title, r.Name), r.Description, r.MIMEType)
		if drop(r.URI, reason); reason == "" {
			resources = append(resources, resource)
		}
	}
	patterns, rest, err := collect(c.session.ResourceTemplates(ctx, nil), maxTemplates, "templates")
	if said, ok := errors.AsType[*jsonrpc.Error](err); err != nil && (!ok || said.Code != jsonrpc.CodeMethodNotFound) {
		return nil, nil, nil, err
	}
	drop("other templates", rest)
	for _, r := range patterns {
		template, reason := resourceOf(r.URITemplate, cmp.Or(r.Title, r.Name), r.Description, r.MIMEType)
		if drop(r.URITemplate, reason); reason == "" {
			templates = append(templates, template)
		}
	}
	return resources, templates, dropped, nil
}

// resourceOf takes up what a server lists; reason says why it cannot be used.
func resourceOf(uri, name, description, mediaType string) (r Resource, reason string) {
	if uri == "" || kinds.Line(uri, maxURI) != uri {
		return r, fmt.Sprintf("its address is empty, has characters that cannot be seen, or more than %d", maxURI)
	}
	line := func(text string) string { return kinds.Line(clean(text, maxDescription), maxSummary) }
	return Resource{URI: uri, Name: line(name), Description: line(description), MediaType: line(mediaType)}, ""
}

// Listing says which server lists an address to be read, by its id in tools and rules; ""
// means that none does.
func (m *Manager) Listing(uri string) (server string) {
	if l := m.listing(uri); l != nil {
		return l.id
	}
	return ""
}

func (m *Manager) listing(uri string) *link {
	for _, l := range m.all() {
		l.mu.Lock()
		resources := l.offers.resources
		l.mu.Unlock()
		if slices.ContainsFunc(resources, func(r Resource) bool { return r.URI == uri }) {
			return l
		}
	}
	return nil
}

// Read has the server that lists an address read it. What it returns belongs into a
// message: it says whose text it is, and is bounded (100 KiB, 20 images).
func (m *Manager) Read(ctx context.Context, uri string) ([]transcript.Part, error) {
	l := m.listing(uri)
	if l == nil {
		return nil, tools.Errorf(tools.BadInput, "no MCP server lists %s", kinds.Line(uri, maxURI))
	}
	result, err := l.readResource(ctx, nil, uri)
	if err != nil {
		return nil, err
	}
	return parts(fmt.Sprintf("mcp_resource server=%q uri=%q", l.id, uri), "", result.Text, result.Images), nil
}

// readResource asks the server for what stands at an address.
func (l *link) readResource(ctx context.Context, rt tools.Runtime, uri string) (*tools.Result, error) {
	answer, err := ask(ctx, l, rt, func(ctx context.Context, c *connection, token string) (*sdk.ReadResourceResult, error) {
		params := &sdk.ReadResourceParams{URI: uri}
		params.SetProgressToken(token)
		return c.session.ReadResource(ctx, params)
	})
	if err != nil {
		return nil, err
	}
	result := &tools.Result{}
	var texts []string
	for _, contents := range answer.Contents {
		if contents != nil && len(answer.Contents) == 1 && contents.URI == uri && len(contents.Blob) == 0 {
			texts = append(texts, contents.Text) // which needs no name
		} else if text := embedded(result, contents); text != "" {
			texts = append(texts, text)
		}
	}
	text := strings.Join(texts, "\n")
	if text == "" && len(result.Images) == 0 {
		text = "(empty)"
	}
	result.Data, result.Text = text, text
	result.Content = card(result)
	return result, nil
}
