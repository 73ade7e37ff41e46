package subagent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"acp-agent/capability"
)

// maxFrontMatter bounds the head of a manifest, in bytes.
const maxFrontMatter = 64 << 10

// fence opens and closes the front matter.
const fence = "---"

// ParseManifest reads an agent manifest: Markdown whose front matter names the
// agent, what it is for, its tools, and what it requires; the text below is its
// prompt. name is the file's, for messages. Fields that nothing heeds are
// errors, so that no setting is silently without effect.
func ParseManifest(name string, text []byte) (Manifest, error) {
	head, body, err := splitManifest(text)
	if err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", name, err)
	}
	var fields any
	if err := yaml.Unmarshal(head, &fields); err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", name, err)
	}
	asJSON, err := json.Marshal(fields)
	if err != nil {
		return Manifest{}, fmt.Errorf("%s: front matter: %w", name, err)
	}
	var m struct {
		Name        string                    `json:"name"`
		Description string                    `json:"description"`
		Tools       []string                  `json:"tools"`
		Always      []string                  `json:"always"`
		Requires    capability.RequirementSet `json:"requires"`
	}
	decoder := json.NewDecoder(bytes.NewReader(asJSON))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m); err != nil {
		return Manifest{}, fmt.Errorf("%s: front matter: %w", name, err)
	}
	switch {
	case m.Name == "":
		return Manifest{}, fmt.Errorf("%s: the agent has no name", name)
	case m.Description == "":
		return Manifest{}, fmt.Errorf("%s: the agent has no description", name)
	case strings.TrimSpace(body) == "":
		return Manifest{}, fmt.Errorf("%s: the agent has no prompt below its front matter", name)
	}
	return Manifest{
		Name: m.Name, Description: m.Description, Prompt: body, Tools: m.Tools, Always: m.Always, Requires: m.Requires,
	}, nil
}

// splitManifest takes a manifest apart at its fences.
func splitManifest(text []byte) (head []byte, body string, err error) {
	all := strings.ReplaceAll(strings.TrimPrefix(string(text), "\ufeff"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(all, fence+"\n")
	if !ok {
		return nil, "", errors.New("it does not begin with front matter between two lines of ---")
	}
	front, body, ok := strings.Cut("\n"+rest, "\n"+fence+"\n")
	if !ok {
		return nil, "", errors.New("its front matter is not closed by a line of ---")
	}
	if len(front) > maxFrontMatter {
		return nil, "", fmt.Errorf("its front matter is larger than %d bytes", maxFrontMatter)
	}
	return []byte(front), body, nil
}
