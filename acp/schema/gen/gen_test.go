package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/schematest"
)

// The files in the tree are what the generator writes today.
func TestGenerate_UpToDate(t *testing.T) {
	schematest.Open(t) // skips without a schema
	dir, err := schematest.Dir()
	if err != nil {
		t.Fatal(err)
	}
	generated, err := generate(dir)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("../*_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	inTree := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		inTree[filepath.Base(path)] = string(text)
	}
	now := map[string]string{}
	for name, text := range generated {
		now[name] = string(text)
	}
	if diff := cmp.Diff(now, inTree); diff != "" {
		t.Errorf("run go generate ./acp/schema (-generated +in tree):\n%s", diff)
	}
}

// A schema that holds something unforeseen stops the generator, which says what.
func TestGenerate_Unforeseen(t *testing.T) {
	tests := []struct {
		name, schema, want string
	}{
		{"definition without a file", `{"$defs":{"New":{"type":"object","properties":{"a":{"type":"string"}}}}}`, "files.go puts nowhere"},
		{"format", `{"$defs":{"A":{"type":"object","x-method":"m","properties":{"a":{"type":"integer","format":"int7"}}}}}`, `"int7"`},
		{"type", `{"$defs":{"A":{"type":"object","x-method":"m","properties":{"a":{"type":["string","integer"]}}}}}`, "no rule"},
		{"reference", `{"$defs":{"A":{"type":"object","x-method":"m","properties":{"a":{"$ref":"#/$defs/B"}}}}}`, "no definition B"},
		{"variant without a name", `{"$defs":{"A":{"type":"object","properties":{"u":{"$ref":"#/$defs/U"}}},"U":{"oneOf":[{"type":"object","properties":{"k":{"const":"x"}}},{"type":"object","properties":{"k":{"const":"y"}}}]}}}`, "variantNames"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range []string{"schema.json", "schema.unstable.json"} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(tt.schema), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := tryAll(dir)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// tryAll renders every definition of a schema, and then looks for their files.
func tryAll(dir string) error {
	defs, err := load(dir, nil)
	if err != nil {
		return err
	}
	p, err := newPlan(defs)
	if err != nil {
		return err
	}
	for _, name := range sortedKeys(defs) {
		s := source{plan: p}
		if err := s.define(name); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(defs) {
		if !p.placed(name) {
			return errNowhere(name)
		}
	}
	return nil
}

func TestCheckVersion(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "schema", "v1")
	if err := checkVersion(dir); err == nil {
		t.Error("no package was accepted")
	}
	for version, ok := range map[string]bool{pinned: true, "0.0.1": false} {
		if err := os.WriteFile(filepath.Join(root, "package.json"), []byte(`{"version":"`+version+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkVersion(dir); (err == nil) != ok {
			t.Errorf("version %s: %v", version, err)
		}
	}
}

func TestGoName(t *testing.T) {
	tests := []struct{ name, want string }{
		{"sessionId", "SessionID"},
		{"_meta", "Meta"},
		{"mcpServers", "MCPServers"},
		{"uri", "URI"},
		{"switch_mode", "SwitchMode"},
		{"date-time", "DateTime"},
		{"$/cancel_request", "CancelRequest"},
		{"fs/read_text_file", "FSReadTextFile"},
		{"anyOf", "AnyOf"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := goName(tt.name); got != tt.want {
				t.Errorf("goName(%q) = %q, want %q", tt.name, got, tt.want)
			}
		})
	}
}
