package config_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/config"
)

func TestLoad_Toolbox(t *testing.T) {
	env := map[string]string{"LINEAR": "a-linear-key", "PLAIN": "plain"}
	cfg := load(t, env, map[string]string{userFile: `{"toolbox": {
		"dirs": ["~/scripts", ` + strconv.Quote(abs("/opt/tools")) + `],
		"env": {"LINEAR_API_KEY": "${LINEAR}", "WORD": "${PLAIN}", "NONE": "${UNSET}", "COST": "$5", "OPEN": "${PLAIN"},
	}}`})
	if diff := cmp.Diff([]string{filepath.Join(home, "scripts"), abs("/opt/tools")}, cfg.Toolbox.Dirs); diff != "" {
		t.Errorf("dirs (-want +got)\n%s", diff)
	}
	want := []string{"COST=$5", "LINEAR_API_KEY=a-linear-key", "OPEN=${PLAIN", "WORD=plain"}
	if diff := cmp.Diff(want, cfg.Toolbox.Env.List()); diff != "" {
		t.Errorf("env (-want +got)\n%s", diff)
	}
	for name, list := range map[string][]string{"keys": cfg.Keys(), "secrets": cfg.Secrets()} {
		if !slices.Contains(list, "a-linear-key") || slices.Contains(list, "plain") {
			t.Errorf("%s: %q", name, list)
		}
	}
}

func TestLoad_ToolProviders(t *testing.T) {
	cfg := load(t, map[string]string{"KEY": "a-provider-key"}, map[string]string{userFile: `{"external": {"toolProviders": {
		"a": {"type": "stdio", "command": "x", "args": ["y"], "env": {"API_KEY": "${KEY}", "GONE": "${GONE}"}},
		"b": {"type": "pigeon", "url": "http://localhost", "headers": {"Authorization": "a-header-key"}},
	}}}`})
	a, b := cfg.External.ToolProviders["a"], cfg.External.ToolProviders["b"]
	if a.Type != "stdio" || a.Command != "x" || !slices.Equal(a.Args, []string{"y"}) || !slices.Equal(a.Env.List(), []string{"API_KEY=a-provider-key"}) {
		t.Errorf("a: %+v", a)
	}
	if b.Type != "pigeon" || b.URL != "http://localhost" || b.Headers["Authorization"].Reveal() != "a-header-key" {
		t.Errorf("b: %+v", b)
	}
	for _, list := range [][]string{cfg.Keys(), cfg.Secrets()} {
		if !slices.Contains(list, "a-provider-key") || !slices.Contains(list, "a-header-key") {
			t.Errorf("keys %q", list)
		}
	}
}

func TestSources_Toolboxes(t *testing.T) {
	usual := filepath.Join(home, ".config", "acp-agent", "toolbox")
	list := abs("/opt/tools") + string(filepath.ListSeparator) + "relative" + string(filepath.ListSeparator) + usual
	for name, tt := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"nothing set":       {nil, []string{usual}},
		"another's toolbox": {map[string]string{"AMP_TOOLBOX": list}, []string{usual, abs("/opt/tools")}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, sources(tt.env, nil).Toolboxes()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if got := (config.Sources{}).Toolboxes(); got != nil {
		t.Errorf("of nothing: %q", got)
	}
}
