package mount

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/tools/bridge"
)

// manifestName is the file that makes a directory a module.
const manifestName = "tool.json"

const (
	maxManifest        = 256 << 10
	maxToolDescription = 8 << 10
	maxTimeout         = time.Hour
)

// manifest is tool.json, completed by what describe answered.
type manifest struct {
	Name        string                    `json:"name"`
	Description string                    `json:"description"`
	InputSchema json.RawMessage           `json:"inputSchema"`
	Parameters  json.RawMessage           `json:"parameters"`
	Executable  string                    `json:"executable"`
	Kind        kinds.Kind                `json:"kind"`
	Requires    capability.RequirementSet `json:"requires"`
	ReadOnly    bool                      `json:"readonly"`
	Events      []string                  `json:"events"`
	TimeoutMS   int64                     `json:"timeout_ms"`
	Cleanup     bool                      `json:"cleanup"`

	schema *jsonschema.Schema
	// lines are the arguments of a program that reads them as lines; nil means that
	// it reads JSON.
	lines         []string
	subagentTypes []string
}

func readManifest(dir string) (*manifest, error) {
	path, err := trusted(dir, manifestName)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxManifest+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxManifest:
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxManifest)
	}
	var m manifest
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: something follows the JSON object", path)
	}
	if m.Executable == "" {
		return nil, fmt.Errorf(`%s: "executable" is missing`, path)
	}
	return &m, nil
}

// needsDescribe reports whether the executable has to be asked: tool.json
// leaves out what every tool must have.
func (m *manifest) needsDescribe() bool { return m.Name == "" || m.Description == "" }

// noUse is the answer to describe of an executable that has no use here.
const noUse = "null"

// complete fills in what tool.json left out.
func (m *manifest) complete(stdout []byte) error {
	d, err := parseDescription(stdout)
	if err != nil {
		return err
	}
	if m.Name == "" {
		m.Name = d.Name
	}
	if m.Description == "" {
		m.Description = d.Description
	}
	if m.InputSchema == nil && m.Parameters == nil {
		m.InputSchema, m.Parameters, m.lines = d.InputSchema, d.Parameters, d.lines
	}
	m.subagentTypes = d.SubagentTypes
	return nil
}

// check holds the manifest to the rules of every tool. Its requires may use the
// variables of R111.
func (m *manifest) check() error {
	m.Description = strings.TrimSpace(bridge.Text(m.Description))
	switch {
	case m.Description == "":
		return errors.New("description is missing")
	case len(m.Description) > maxToolDescription:
		return fmt.Errorf("description is longer than %d bytes", maxToolDescription)
	case m.InputSchema != nil && m.Parameters != nil:
		return errors.New("inputSchema and parameters mean the same: give one of them")
	case m.TimeoutMS < 0 || m.TimeoutMS > maxTimeout.Milliseconds():
		return fmt.Errorf("timeout_ms must be between 0 and %d", maxTimeout.Milliseconds())
	}
	raw := m.InputSchema
	if raw == nil {
		raw = m.Parameters
	}
	var err error
	if m.schema, err = bridge.Schema(raw); err != nil {
		return err
	}
	if !m.Kind.Valid() {
		m.Kind = kinds.Other // section C: the declared kind if it is legal
	}
	if _, err := capability.Compile(m.Requires, capability.NoDirectories()); err != nil {
		return fmt.Errorf("requires: %w", err)
	}
	return nil
}
