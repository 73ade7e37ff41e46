package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"acp-agent/internal/testkit/schematest"
)

func main() {
	dir := flag.String("schema", "", "folder of schema.json (default: where schematest looks)")
	out := flag.String("out", ".", "folder to write to")
	flag.Parse()
	if err := run(*dir, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(dir, out string) error {
	if dir == "" {
		var err error
		if dir, err = schematest.Dir(); err != nil {
			return err
		}
	}
	generated, err := generate(dir)
	if err != nil {
		return err
	}
	stale, err := filepath.Glob(filepath.Join(out, "*_gen.go"))
	if err != nil {
		return err
	}
	for _, path := range stale {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(generated) {
		if err := os.WriteFile(filepath.Join(out, name), generated[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the contents of all files by name.
func generate(dir string) (map[string][]byte, error) {
	if err := checkVersion(dir); err != nil {
		return nil, err
	}
	defs, err := load(dir, unstable)
	if err != nil {
		return nil, err
	}
	p, err := newPlan(defs)
	if err != nil {
		return nil, err
	}
	if err := p.checkFiles(); err != nil {
		return nil, err
	}
	generated := map[string][]byte{}
	if generated["methods_gen.go"], err = p.methodsFile(); err != nil {
		return nil, err
	}
	for _, family := range sortedKeys(files) {
		s := source{plan: p}
		for _, name := range files[family] {
			if err := s.define(name); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		if generated[family+"_gen.go"], err = s.bytes(); err != nil {
			return nil, fmt.Errorf("%s_gen.go: %w", family, err)
		}
	}
	return generated, nil
}

// checkFiles compares the definitions of the schema with the definitions that have a file.
func (p *plan) checkFiles() error {
	for _, family := range sortedKeys(files) {
		for _, name := range files[family] {
			if p.defs[name] == nil {
				return fmt.Errorf("files.go names %s, which the schema does not have", name)
			}
		}
	}
	for _, name := range sortedKeys(p.defs) {
		if !p.placed(name) {
			return errNowhere(name)
		}
	}
	return nil
}

func errNowhere(name string) error {
	return fmt.Errorf("the schema has %s, which files.go puts nowhere", name)
}

// placed says whether a definition stands in a file, or needs none.
func (p *plan) placed(name string) bool {
	for _, names := range files {
		if slices.Contains(names, name) {
			return true
		}
	}
	return byHand[name].typ != "" || slices.Contains(skipped, name) || p.dissolved(name)
}

// dissolved says whether a definition only lends its fields to variants of unions.
func (p *plan) dissolved(name string) bool {
	plain, alternative := p.uses()
	if plain[name] > 0 || alternative[name] == 0 {
		return false
	}
	for _, u := range p.unions {
		for _, v := range u.variants {
			if v.goName == name {
				return false
			}
		}
	}
	return true
}

// checkVersion reads the version of the package that dir belongs to.
func checkVersion(dir string) error {
	path := filepath.Join(dir, "..", "..", "package.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("version of the schema: %w", err)
	}
	var about struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(raw, &about); err != nil {
		return fmt.Errorf("decode %s: %w", path, err)
	}
	if about.Version != pinned {
		return fmt.Errorf("the schema is of version %s, but %s is pinned", about.Version, pinned)
	}
	return nil
}
