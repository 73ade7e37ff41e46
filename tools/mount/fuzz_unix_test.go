//go:build unix

package mount_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"acp-agent/tools"
	"acp-agent/tools/mount"
	"acp-agent/tools/tooltest"
)

// FuzzResult holds that whatever a module prints is a result or a tool error.
func FuzzResult(f *testing.F) {
	for _, seed := range []string{
		"text", `{"status":"done","result":1}`, `{"success":false,"error":{"message":"m"}}`, `{"type":"output","data":{}}`, `{"type":"error"`, "\xff\x00",
	} {
		f.Add([]byte(seed), 0)
	}
	f.Add([]byte(`{"status":"error","error":{"message":"m"}}`), 1)
	f.Fuzz(func(t *testing.T, output []byte, code int) {
		_, tool := mountLocal(t, module(t, manifest), mount.Options{})
		rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{Output: []string{string(output)}, ExitCode: code}}})
		result, err := rt.Run(t.Context(), tool, "my_tool", `{}`)
		var failure *tools.Error
		switch {
		case err == nil && code != 0:
			t.Errorf("exit code %d gave %+v", code, result)
		case err != nil && !errors.As(err, &failure):
			t.Errorf("not a tool error: %v", err)
		}
	})
}

// FuzzManifest holds that a module of any tool.json is refused or sound.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(manifest))
	f.Add([]byte(`{"name":"a-b","description":"x","parameters":{"type":"object","required":["a"]},"executable":"run.sh","kind":"read","timeout_ms":1}`))
	f.Add([]byte(`{"name":"a","description":"x","executable":"../run.sh","requires":{"shell":[{"cmd":"git"}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := module(t, manifest)
		put(t, filepath.Join(dir, "tool.json"), string(text), 0o644)
		m := mount.Run(t.Context(), mount.Plan{{Module: "x", Source: dir}}, mount.Options{})
		for _, tool := range m.Tools() {
			registry, err := tools.NewRegistry(tool)
			if err != nil {
				t.Fatal(err)
			}
			if entry, _ := registry.Get(tool.ID); !json.Valid(entry.Schema()) || tool.Source.Kind != tools.Module {
				t.Errorf("tool %+v", tool.Spec)
			}
		}
		if len(m.Tools())+len(m.Failures()) != 1 {
			t.Errorf("tools %v, failures %v", m.Tools(), m.Failures())
		}
	})
}
