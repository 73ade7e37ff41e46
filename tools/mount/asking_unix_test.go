//go:build unix

package mount_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/mount"
)

// says answers describe for each script by its name, after so many seconds, or never.
func says(t *testing.T, after map[string]time.Duration, names map[string]string) mount.Options {
	scripts := map[string]string{}
	for name := range after {
		scripts[name] = ""
	}
	_, o := toolbox(t, scripts)
	o.Describe = func(ctx context.Context, call mount.Describing) ([]byte, error) {
		script := filepath.Base(call.Args[0])
		if after[script] < 0 {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		time.Sleep(after[script])
		return fmt.Appendf(nil, "name: %s\ndescription: d", names[script]), nil
	}
	return o
}

func asked(m *mount.Mounting) []string {
	list, _ := m.Answered()
	return ids(list)
}

// R8, R93: what has to be asked is not asked before StartAsking, once, and quick ones
// are available while another hangs.
func TestOpen(t *testing.T) {
	dir := module(t, `{"executable":"run.sh"}`)
	plan := mount.Plan{{Module: "plain", Source: module(t, manifest)}, {Module: "told", Source: dir}, {Module: "told", Source: dir}}
	o := says(t, map[string]time.Duration{"a": time.Second, "b": -1, "c": 0}, map[string]string{"a": "a", "c": "c"})
	scripts, describes := o.Describe, atomic.Int32{}
	synctest.Test(t, func(t *testing.T) {
		o := o
		o.Describe = func(ctx context.Context, call mount.Describing) ([]byte, error) {
			describes.Add(1)
			if call.Dir != filepath.Dir(call.Args[0]) || len(call.Args) == 2 {
				return []byte(`{"name":"told","description":"d"}`), nil
			}
			return scripts(ctx, call)
		}
		var late []string
		o.Failed = func(f mount.Failure) { late = append(late, filepath.Base(f.Module)) }
		m := mount.Open(t.Context(), plan, o)
		m.Settle(t.Context(), time.Time{}) // nothing was started
		if diff := cmp.Diff([]string{"my_tool"}, ids(m.Tools())); diff != "" || describes.Load() != 0 || !m.NeedsAsking() {
			t.Errorf("before Begin: %d asked, asks %v, tools (-want +got)\n%s", describes.Load(), m.NeedsAsking(), diff)
		}
		m.StartAsking()
		m.StartAsking()
		start := time.Now()
		synctest.Wait()
		if diff := cmp.Diff([]string{"told", "tb__c"}, asked(m)); diff != "" {
			t.Errorf("at once (-want +got)\n%s", diff)
		}
		_, before := m.Answered()
		short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		m.Settle(short, start)
		if list, now := m.Answered(); now == before || cmp.Diff([]string{"told", "tb__a", "tb__c"}, ids(list)) != "" {
			t.Errorf("after two seconds: tools %v, generation %d, was %d", ids(list), now, before)
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("Settle took %s, want as long as there was", took)
		}
		m.Settle(t.Context(), time.Now()) // no one waits twice
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("Settle waited for what was started before")
		}
		var states []string
		for _, s := range m.Status() {
			states = append(states, fmt.Sprintf("%s %s %v", filepath.Base(s.Name), s.State, s.Tools))
		}
		want := []string{
			"plain ready [my_tool]", "told ready [told]", "told failed []", "a ready [tb__a]", "b being asked []", "c ready [tb__c]",
		}
		if diff := cmp.Diff(want, states); diff != "" {
			t.Errorf("status (-want +got)\n%s", diff)
		}
		m.Settle(t.Context(), time.Time{})
		if took := time.Since(start); took != 20*time.Second || cmp.Diff([]string{"b"}, late) != "" || describes.Load() != 4 {
			t.Errorf("after %s failed late %v, asked %d", took, late, describes.Load())
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Of two that call themselves the same, the first has the name, whichever was faster.
func TestOpen_OneName(t *testing.T) {
	for name, after := range map[string]map[string]time.Duration{
		"the first is faster":  {"a": 0, "b": time.Second},
		"the second is faster": {"a": time.Second, "b": 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := says(t, after, map[string]string{"a": "same", "b": "same"})
			synctest.Test(t, func(t *testing.T) {
				m := mount.Run(t.Context(), nil, o)
				defer m.Close()
				list, _ := m.Answered()
				if len(list) != 1 || list[0].Source != (tools.Source{Kind: tools.Toolbox, Server: "a"}) {
					t.Errorf("tools %v", list)
				}
				if f := m.Failures(); len(f) != 1 || filepath.Base(f[0].Module) != "b" || !strings.Contains(f[0].Error(), "tb__same") {
					t.Errorf("failures %v", f)
				}
			})
		})
	}
}

// Close ends the modules that are being asked, waits for them, and reports no failure.
func TestOpen_Close(t *testing.T) {
	o := says(t, map[string]time.Duration{"hangs": -1}, nil)
	synctest.Test(t, func(t *testing.T) {
		o := o
		o.Failed = func(f mount.Failure) { t.Errorf("failed: %v", f) }
		var ended atomic.Bool
		hangs := o.Describe
		o.Describe = func(ctx context.Context, call mount.Describing) ([]byte, error) {
			defer ended.Store(true)
			return hangs(ctx, call)
		}
		m := mount.Open(t.Context(), nil, o)
		m.StartAsking()
		synctest.Wait()
		if err := m.Close(); err != nil || !ended.Load() {
			t.Errorf("Close returned %v while a script was being asked", err)
		}
		m.StartAsking()
		m.Settle(t.Context(), time.Time{})
		again := mount.Open(t.Context(), nil, o)
		err := again.Close()
		again.StartAsking()
		if len(asked(again)) > 0 || err != nil {
			t.Errorf("a script was asked after Close: %v", errors.Join(err))
		}
	})
}

// Not more than eight are asked at once, for a session begins beside them; all are asked.
func TestOpen_AFewAtOnce(t *testing.T) {
	after, names := map[string]time.Duration{}, map[string]string{}
	for i := range 20 {
		name := fmt.Sprintf("s%02d", i)
		after[name], names[name] = time.Second, name
	}
	o := says(t, after, names)
	synctest.Test(t, func(t *testing.T) {
		o := o
		var now, most atomic.Int32
		answer := o.Describe
		o.Describe = func(ctx context.Context, call mount.Describing) ([]byte, error) {
			for n, m := now.Add(1), most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			defer now.Add(-1)
			return answer(ctx, call)
		}
		m := mount.Run(t.Context(), nil, o)
		defer m.Close()
		if len(m.Tools()) != 20 || most.Load() != 8 {
			t.Errorf("%d tools, %d at once", len(m.Tools()), most.Load())
		}
	})
}
