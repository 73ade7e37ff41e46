package schematest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// definitions is the schema, from which single definitions are compiled when they are
// first asked for.
type definitions struct {
	raw      map[string]json.RawMessage // the schema that judges
	unstable map[string]json.RawMessage // all of the unstable schema

	mu       sync.Mutex
	compiled map[string]*jsonschema.Resolved
	known    map[string]map[string]bool // members by definition
}

func newDefinitions(raw, unstable map[string]json.RawMessage) *definitions {
	return &definitions{raw: raw, unstable: unstable, compiled: map[string]*jsonschema.Resolved{}, known: map[string]map[string]bool{}}
}

func readDefinitions(dir string) (*definitions, error) {
	stable, err := readFile(filepath.Join(dir, "schema.json"))
	if err != nil {
		return nil, err
	}
	unstable, err := readFile(filepath.Join(dir, "schema.unstable.json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return newDefinitions(stable, unstable), nil
}

func readFile(path string) (map[string]json.RawMessage, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("decode %s: %w", path, err)
	}
	return doc.Defs, nil
}

// validate judges a JSON value by a definition.
func (d *definitions) validate(name string, raw json.RawMessage) error {
	resolved, err := d.compile(name)
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return err
	}
	if err := resolved.Validate(value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// validateObject is validate for an object, which may have known members only. raw is nil where the
// object is absent, which is judged as an empty one.
func (d *definitions) validateObject(name string, raw json.RawMessage) error {
	if raw == nil {
		raw = json.RawMessage("{}")
	}
	if err := d.validate(name, raw); err != nil {
		return err
	}
	return d.onlyKnownMembers(name, raw)
}

// compile resolves a definition together with the definitions it refers to. A schema can be
// resolved only once, so that each gets copies of its own.
func (d *definitions) compile(name string) (*jsonschema.Resolved, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r := d.compiled[name]; r != nil {
		return r, nil
	}
	if d.raw[name] == nil {
		return nil, fmt.Errorf("the schema has no definition %s", name)
	}
	root := &jsonschema.Schema{Ref: reference(name), Defs: map[string]*jsonschema.Schema{}}
	if err := d.collect(root.Defs, name); err != nil {
		return nil, err
	}
	resolved, err := root.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", name, err)
	}
	d.compiled[name] = resolved
	return resolved, nil
}

// collect adds a definition and all that it refers to.
func (d *definitions) collect(to map[string]*jsonschema.Schema, name string) error {
	if to[name] != nil {
		return nil
	}
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(d.raw[name], s); err != nil {
		return fmt.Errorf("decode %s: %w", name, err)
	}
	to[name] = s
	for _, ref := range references(d.raw[name]) {
		if err := d.collect(to, ref); err != nil {
			return err
		}
	}
	return nil
}
