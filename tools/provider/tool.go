package provider

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/bridge"
	"acp-agent/tools/stream"
)

const (
	prefix         = "tb__"
	maxID          = 64
	maxTools       = 256
	maxDescription = 8 << 10
)

// listed is a tool as a provider lists it.
type listed struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Parameters  json.RawMessage `json:"parameters"`
	Kind        kinds.Kind      `json:"kind"`
}

// read makes tools of the answer to tools/list. What cannot be one is in refused.
func (p *provider) read(answer json.RawMessage) (list []tools.Tool, refused []error, err error) {
	var all struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(answer, &all); err != nil || all.Tools == nil {
		return nil, nil, errors.New("it answered tools/list without a list of tools")
	}
	for i, raw := range all.Tools {
		if i == maxTools {
			refused = append(refused, fmt.Errorf("%d of its tools are left out, it lists more than %d", len(all.Tools)-maxTools, maxTools))
			break
		}
		var one listed
		err := json.Unmarshal(raw, &one)
		if err == nil {
			var tool tools.Tool
			if tool, err = p.tool(one, list); err == nil {
				list = append(list, tool)
				continue
			}
		}
		refused = append(refused, fmt.Errorf("tool %q is left out: %w", kinds.Line(one.Name, maxID), err))
	}
	return list, refused, nil
}

// tool is the [tools.Tool] of a listed tool.
func (p *provider) tool(from listed, before []tools.Tool) (tools.Tool, error) {
	description := strings.TrimSpace(bridge.Text(from.Description))
	switch {
	case from.Name == "":
		return tools.Tool{}, errors.New("it has no name")
	case len(description) > maxDescription:
		return tools.Tool{}, fmt.Errorf("its description is longer than %d bytes", maxDescription)
	case from.InputSchema != nil && from.Parameters != nil:
		return tools.Tool{}, errors.New("inputSchema and parameters mean the same")
	}
	raw := from.InputSchema
	if raw == nil {
		raw = from.Parameters
	}
	schema, err := bridge.Schema(raw)
	if err != nil {
		return tools.Tool{}, err
	}
	id := toolID(p.Name, from.Name)
	if slices.ContainsFunc(before, func(t tools.Tool) bool { return t.ID == id }) {
		id = hashed(id, p.Name, from.Name)
	}
	tool := tools.Tool{
		Spec: tools.Spec{
			ID: id, Description: description, Parameters: schema, Kind: from.Kind, Requires: p.requires(),
			Source: tools.Source{Kind: tools.Provider, Server: p.Name, Name: from.Name}, Origin: p.provenance,
		},
		Run: func(ctx context.Context, rt tools.Runtime, args tools.Args) (*tools.Result, error) {
			return p.service.execute(ctx, rt, p.Name, from.Name, args.Raw())
		},
	}
	if !tool.Kind.Valid() {
		tool.Kind = kinds.Other
	}
	for _, other := range before {
		if other.ID == id {
			return tools.Tool{}, errors.New("it is listed twice")
		}
	}
	_, err = tools.NewRegistry(tool)
	return tool, err
}

// requires is what the provider's tools need: to run a program, which may have the network,
// or to reach its host.
func (p *provider) requires() capability.RequirementSet {
	if p.Type == Stdio {
		needs := capability.RequirementSet{Capabilities: []string{capability.CapShellRun}}
		if p.Network {
			needs.Net = capability.Net{Hosts: []string{"*"}}
		}
		return needs
	}
	u, err := url.Parse(p.URL)
	if err != nil {
		return capability.RequirementSet{}
	}
	return capability.RequirementSet{Net: capability.Net{Hosts: []string{u.Hostname()}}}
}

// toolID is the id of a provider's tool.
func toolID(provider, tool string) string {
	id := prefix + slug(provider) + "__" + slug(tool)
	if len(id) > maxID {
		return hashed(id, provider, tool)
	}
	return id
}

// hashed is an id with its end in place of which stands a hash of what it is for.
func hashed(id, provider, tool string) string {
	sum := sha256.Sum256([]byte(provider + "\x00" + tool))
	tail := "_" + hex.EncodeToString(sum[:4])
	return id[:min(len(id), maxID-len(tail))] + tail
}

// slug is a name in snake_case.
func slug(name string) string {
	var b strings.Builder
	lower := false // whether the letter before was a small one
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
			lower = true
			continue
		case r >= 'A' && r <= 'Z':
			if lower {
				b.WriteByte('_')
			}
			b.WriteRune(r + ('a' - 'A'))
		default:
			b.WriteByte('_')
		}
		lower = false
	}
	return b.String()
}

// result makes the result of a call of what the provider answered.
func result(rt tools.Runtime, answer json.RawMessage) (*tools.Result, error) {
	made, err := meaning(answer)
	if err != nil {
		return nil, err
	}
	out := stream.New(rt)
	defer out.Close()
	_, _ = out.Write([]byte(made.ModelText())) // it never fails
	if text, path := out.Text(); out.Cut() {
		made.Data, made.Text, made.Truncated, made.OutputPath = text, "", true, path
	}
	return made, nil
}

// meaning is what an answer says: {"result": …}, or the value itself, which may have
// one of the known shapes.
func meaning(answer json.RawMessage) (*tools.Result, error) {
	for range 2 {
		outcome, known, err := bridge.Recognise(answer)
		switch {
		case err != nil:
			return nil, &tools.Error{Kind: tools.Backend, Message: "the tool's answer is not well-formed: " + err.Error(), Err: err}
		case known:
			return outcome.Result()
		}
		var wrapped map[string]json.RawMessage
		if json.Unmarshal(answer, &wrapped) != nil || len(wrapped) != 1 || wrapped["result"] == nil {
			break
		}
		answer = wrapped["result"]
	}
	var text string
	if json.Unmarshal(answer, &text) == nil && !bytes.Equal(answer, []byte("null")) {
		return tools.Output(text), nil
	}
	return tools.Output(answer), nil
}
