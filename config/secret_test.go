package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/config"
)

func TestSecret_NeverPrinted(t *testing.T) {
	const canary = "sk-canary-1234567890"
	secret := config.NewSecret(canary)
	cfg := config.Default()
	cfg.Model.APIKey = secret
	cfg.Model.Headers = map[string]config.Secret{"X": secret}
	hidden := struct{ key config.Secret }{secret}

	var printed []string
	for _, verb := range strings.Split("v +v #v s q x X d U t p e", " ") {
		for _, value := range []any{secret, &secret, *cfg, cfg, []config.Secret{secret}, hidden} {
			printed = append(printed, fmt.Sprintf("%"+verb, value))
		}
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", secret, "config", cfg)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", secret, "config", cfg)
	printed = append(printed, string(text), log.String(), fmt.Sprint(secret), secret.String())

	for _, p := range printed {
		if strings.Contains(p, canary) || strings.Contains(strings.ToLower(p), fmt.Sprintf("%x", canary)) {
			t.Errorf("the secret is printed: %s", p)
		}
	}
	if got := fmt.Sprintf("%v %+v %#v %s %q %x", secret, secret, secret, secret, secret, secret); got != strings.TrimSpace(strings.Repeat("[redacted] ", 6)) {
		t.Errorf("printed %s", got)
	}
	if secret.Reveal() != canary {
		t.Errorf("revealed %q", secret.Reveal())
	}
}

func TestSecret_Empty(t *testing.T) {
	empty := config.NewSecret("")
	if !empty.IsZero() || empty.Reveal() != "" || fmt.Sprint(empty) != "" || !empty.Equal(config.Secret{}) {
		t.Errorf("an empty secret: zero %v, value %q, printed %q", empty.IsZero(), empty.Reveal(), empty)
	}
}

func TestConfig_Secrets(t *testing.T) {
	cfg := config.Default()
	if got := cfg.Secrets(); got != nil {
		t.Errorf("secrets %q of a config without", got)
	}
	cfg.Model.APIKey = config.NewSecret("key")
	cfg.Model.Headers = map[string]config.Secret{
		"B": config.NewSecret("b"), "A": config.NewSecret("a"), "C": {},
	}
	if diff := cmp.Diff([]string{"key", "a", "b"}, cfg.Secrets()); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
}

// A project adds names of secrets, and takes none away.
func TestLoad_SecretNamesAreAdded(t *testing.T) {
	got := load(t, nil, map[string]string{
		userFile: `{"secrets": {"names": ["*.vault"]}}`, projectFile: `{"secrets": {"names": ["deploy/prod.yml", "*.vault"]}}`,
	})
	if diff := cmp.Diff([]string{"*.vault", "deploy/prod.yml"}, got.SecretFiles.Names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
