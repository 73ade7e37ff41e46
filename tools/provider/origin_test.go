package provider_test

import (
	"testing"

	"acp-agent/tools/provider"
)

// M1: what an answer about a provider's tool is bound to is the entry of the configuration,
// without the values of what it is given.
func TestService_Origin(t *testing.T) {
	p := &program{answer: usual(echoTool, nil)}
	digest := func(edit func(*provider.Config)) string {
		c := provider.Config{Name: "u", Type: "stdio", Command: "x", Args: []string{"a", "b"}, Env: []string{"A_TOKEN=1"}}
		edit(&c)
		s := provider.New([]provider.Config{c}, provider.Options{Start: p.start})
		defer s.Close()
		settled(t, s)
		list, _ := s.Tools()
		if len(list) != 1 {
			t.Fatalf("%d tools, problems %v", len(list), s.Problems())
		}
		return list[0].Provenance().Digest
	}
	first := digest(func(*provider.Config) {})
	for name, tt := range map[string]struct {
		edit   func(*provider.Config)
		differ bool
	}{
		"the same":           {func(*provider.Config) {}, false},
		"another value":      {func(c *provider.Config) { c.Env = []string{"A_TOKEN=2"} }, false},
		"another variable":   {func(c *provider.Config) { c.Env = append(c.Env, "PATH=/x") }, true},
		"another program":    {func(c *provider.Config) { c.Command = "y" }, true},
		"arguments in one":   {func(c *provider.Config) { c.Args = []string{"a b"} }, true},
		"with the network":   {func(c *provider.Config) { c.Network = true }, true},
		"under another name": {func(c *provider.Config) { c.Name = "v" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := digest(tt.edit); (got != first) != tt.differ {
				t.Errorf("differs: %v", got != first)
			}
		})
	}
}
