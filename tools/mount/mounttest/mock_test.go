package mounttest_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools/mount"
	"acp-agent/tools/mount/mounttest"
	"acp-agent/tools/tooltest"
)

// R163: a module is tested with a MockCoordinator, its tool is a MockTool.
func TestMockCoordinator(t *testing.T) {
	t.Parallel()
	tool := tooltest.NewMock("test_tool", "mock result")
	cleaned := 0
	module := func(_ context.Context, c *mount.Coordinator, config json.RawMessage) (mount.Mounted, error) {
		c.RegisterContributor(mount.EventsChannel, "test-tool", func() []string { return []string{"test-tool:started"} })
		return mount.Mounted{Tool: &tool.Tool, Cleanup: func() error { cleaned++; return nil }}, json.Unmarshal(config, &struct{}{})
	}
	mock := mounttest.New("taken")
	if err := mock.Mount(t.Context(), "test-tool", module, `{"max_size":1}`); err != nil {
		t.Fatal(err)
	}
	if err := mock.Mount(t.Context(), "other", module, `{}`); err == nil {
		t.Error("a tool was mounted twice")
	}
	if diff := cmp.Diff([]string{"test_tool"}, mock.Names()); diff != "" {
		t.Errorf("names (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"test-tool:started"}, mock.Contributions(mount.EventsChannel)); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
	mounted, ok := mock.Tool("test_tool")
	if !ok {
		t.Fatal("the tool cannot be found")
	}
	result, err := tooltest.New(tooltest.Options{}).Run(t.Context(), mounted, "test_tool", `{}`)
	if err != nil || result.ModelText() != "mock result" || tool.CallCount() != 1 {
		t.Errorf("result %+v, %v after %d calls", result, err, tool.CallCount())
	}
	if _, ok := mock.Tool("other"); ok {
		t.Error("a tool that was not mounted was found")
	}
	if results := mock.Results(); len(results) != 2 || results[0].Err != nil || results[1].Err == nil {
		t.Errorf("results %+v", results)
	}
	if err := mock.Close(); err != nil || cleaned != 2 {
		t.Errorf("cleaned %d times, want once for each module: %v", cleaned, err)
	}
}
