package config_test

import (
	"encoding"
	"os"
	"reflect"
	"strings"
	"testing"

	"acp-agent/config"
)

// TestDocs_EveryField holds docs/configuration.md complete: each field of the struct and
// each variable of the environment is named there.
func TestDocs_EveryField(t *testing.T) {
	text, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	names := fields(reflect.TypeFor[config.Config](), "")
	if len(names) < 25 {
		t.Fatalf("only %d fields found: %q", len(names), names)
	}
	names = append(names, config.EnvAPIKey, config.EnvBaseURL, config.EnvModel, config.EnvConfig, config.EnvLog, config.EnvToolbox)
	for _, name := range names {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/configuration.md does not name `%s`", name)
		}
	}
}

func fields(t reflect.Type, under string) []string {
	if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return []string{under}
	}
	var names []string
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		if tag == "-" {
			continue
		}
		if under != "" {
			tag = under + "." + tag
		}
		names = append(names, fields(f.Type, tag)...)
	}
	return names
}
