//go:build unix

package mount_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/mount"
	"acp-agent/tools/tooltest"
)

// R8: an executable that has no use here mounts nothing, which is not a failure.
func TestLocal_MountsNothing(t *testing.T) {
	t.Parallel()
	m := mount.Run(t.Context(), mount.Plan{{Module: "x", Source: module(t, `{"executable":"run.sh","cleanup":true}`)}}, mount.Options{
		Describe: func(context.Context, mount.Describing) ([]byte, error) { return []byte("null\n"), nil },
	})
	if len(m.Tools())+len(m.Failures()) > 0 || m.Status()[0].State != mount.Ready {
		t.Errorf("tools %v, failures %v, status %v", ids(m.Tools()), m.Failures(), m.Status())
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// R8: a module that asks for it cleans up at shutdown, the last mounted first, if it was
// called, within a second for all; what goes wrong is told.
func TestLocal_Cleanup(t *testing.T) {
	var plan mount.Plan
	for _, name := range []string{"first", "not_called", "hangs", "fails", "silent"} {
		cleanup := name != "silent"
		plan = append(plan, mount.Entry{Module: name, Source: module(t, fmt.Sprintf(
			`{"name":%q,"description":"d","executable":"run.sh","cleanup":%v,"requires":{"net":{"hosts":["example.com"]}}}`, name, cleanup))})
	}
	synctest.Test(t, func(t *testing.T) {
		var ran []string
		m := mount.Run(t.Context(), plan, mount.Options{
			Describe: func(ctx context.Context, call mount.Describing) ([]byte, error) {
				name := []string{"fails", "hangs", "first"}[len(ran)]
				ran = append(ran, name)
				want := mount.Describing{Args: []string{call.Args[0], "cleanup"}, Dir: call.Dir, Env: []string{"TOOLBOX_ACTION=cleanup", "AGENT=acp-agent"}, Network: true}
				if diff := cmp.Diff(want, call); diff != "" {
					t.Errorf("call (-want +got)\n%s", diff)
				}
				switch name {
				case "fails":
					return nil, fmt.Errorf("exit 1")
				case "hangs":
					<-ctx.Done()
				}
				return nil, ctx.Err()
			},
		})
		for _, tool := range m.Tools() {
			if tool.ID == "not_called" {
				continue
			}
			rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{Output: []string{"done"}}}})
			if _, err := tool.Run(t.Context(), rt, tools.NewArgs(`{}`)); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		err := m.Close()
		if took := time.Since(start); took != time.Second || err == nil {
			t.Errorf("Close returned %v after %s", err, took)
		}
		for _, want := range []string{`clean up module "fails": exit 1`, `clean up module "hangs": cleanup had no more than 1s`, `clean up module "first": cleanup had`} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		if err := m.Close(); err != nil {
			t.Errorf("the second Close returned %v", err)
		}
	})
}
