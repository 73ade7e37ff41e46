package resultcache_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/resultcache"
)

// clock is set by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// disk is a file system of states.
type disk map[string]resultcache.Stamp

func (d disk) stat(path string) (resultcache.Stamp, error) {
	stamp, ok := d[path]
	if !ok {
		return stamp, fs.ErrNotExist
	}
	return stamp, nil
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func rested(ago time.Duration) resultcache.Stamp {
	at := noon.Add(-ago).UnixNano()
	return resultcache.Stamp{Size: 10, ModTime: at, ChangeTime: at, Mode: 0o644, Inode: 7, Device: 1}
}

func abs(path string) string { return filepath.FromSlash("/w/" + path) }

func newCache(t *testing.T, o resultcache.Options) (*resultcache.Cache, *clock) {
	t.Helper()
	c := &clock{now: noon}
	o.Now = c.read
	cache, err := resultcache.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return cache, c
}

func TestCache_Dependencies(t *testing.T) {
	change := func(f func(s *resultcache.Stamp)) func(disk) {
		return func(d disk) {
			s := d[abs("a")]
			f(&s)
			d[abs("a")] = s
		}
	}
	tests := []struct {
		name   string
		change func(disk)
		want   bool
	}{
		{"unchanged", func(disk) {}, true},
		{"touched", change(func(s *resultcache.Stamp) { s.ModTime++ }), false},
		{"older than before", change(func(s *resultcache.Stamp) { s.ModTime -= 1e9 }), false},
		{"same time, other size", change(func(s *resultcache.Stamp) { s.Size++ }), false},
		{"same time and size, metadata changed", change(func(s *resultcache.Stamp) { s.ChangeTime++ }), false},
		{"replaced by another file", change(func(s *resultcache.Stamp) { s.Inode++ }), false},
		{"on another device", change(func(s *resultcache.Stamp) { s.Device++ }), false},
		{"other mode", change(func(s *resultcache.Stamp) { s.Mode = 0o600 }), false},
		{"deleted", func(d disk) { delete(d, abs("a")) }, false},
		{"second one deleted", func(d disk) { delete(d, abs("b")) }, false},
		{"something else deleted", func(d disk) { delete(d, abs("c")) }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cache, _ := newCache(t, resultcache.Options{})
			d := disk{abs("a"): rested(time.Hour), abs("b"): rested(time.Hour), abs("c"): rested(time.Hour)}
			if !cache.Put("k", resultcache.Entry{Value: "v", Began: noon, Depends: []string{abs("a"), abs("b")}}, d.stat) {
				t.Fatal("not kept")
			}
			before := maps.Clone(d)
			tt.change(d)
			value, ok := cache.Get("k", d.stat)
			if ok != tt.want || ok && value != "v" {
				t.Errorf("Get = %v, %v; want a hit: %v", value, ok, tt.want)
			}
			if _, ok := cache.Get("k", before.stat); ok != tt.want {
				t.Errorf("after that, with the old state, a hit: %v; want %v", ok, tt.want)
			}
		})
	}
}

// A file that changed just before the call may change again within one tick of
// its file system's clock (trap 36).
func TestCache_PutOnlyWhatRested(t *testing.T) {
	tests := []struct {
		name  string
		stamp resultcache.Stamp
		began time.Time
		want  bool
	}{
		{"long ago", rested(time.Hour), noon, true},
		{"three seconds ago", rested(3 * time.Second), noon, true},
		{"two seconds ago", rested(2 * time.Second), noon, false},
		{"now", rested(0), noon, false},
		{"during the call", rested(time.Minute), noon.Add(-2 * time.Minute), false},
		{"in the future", rested(-time.Hour), noon, false},
		{"only the metadata", resultcache.Stamp{ModTime: 1, ChangeTime: noon.UnixNano()}, noon, false},
		{"no start given", rested(time.Hour), time.Time{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cache, _ := newCache(t, resultcache.Options{})
			d := disk{abs("a"): tt.stamp}
			if ok := cache.Put("k", resultcache.Entry{Began: tt.began, Depends: []string{abs("a")}}, d.stat); ok != tt.want {
				t.Errorf("Put = %v, want %v", ok, tt.want)
			}
			if _, ok := cache.Get("k", d.stat); ok != tt.want {
				t.Errorf("Get = %v, want %v", ok, tt.want)
			}
		})
	}
}

func TestCache_StatFails(t *testing.T) {
	cache, _ := newCache(t, resultcache.Options{})
	broken := func(string) (resultcache.Stamp, error) { return rested(time.Hour), errors.New("disk on fire") }
	entry := resultcache.Entry{Began: noon, Depends: []string{abs("a")}}
	if cache.Put("k", entry, broken) {
		t.Error("kept although the state of a dependency is not known")
	}
	cache.Put("k", entry, disk{abs("a"): rested(time.Hour)}.stat)
	if _, ok := cache.Get("k", broken); ok {
		t.Error("a hit although the state of a dependency is not known")
	}
}

func TestCache_Age(t *testing.T) {
	tests := []struct {
		name string
		pass time.Duration
		want bool
	}{
		{"at once", 0, true},
		{"just within", resultcache.DefaultTTL - 1, true},
		{"at the end", resultcache.DefaultTTL, false},
		{"clock set back", -time.Second, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cache, clock := newCache(t, resultcache.Options{})
			cache.Put("k", resultcache.Entry{Began: noon}, nil)
			clock.pass(tt.pass)
			if _, ok := cache.Get("k", nil); ok != tt.want {
				t.Errorf("a hit: %v, want %v", ok, tt.want)
			}
		})
	}
}

func TestCache_Invalidate(t *testing.T) {
	tests := []struct {
		name    string
		written []string
		want    []string
	}{
		{"nothing", nil, []string{"dir", "file", "none", "other", "root"}},
		{"the file", []string{"dir/file"}, []string{"none", "other"}},
		{"the file, spelled otherwise", []string{"dir/x/../file"}, []string{"none", "other"}},
		{"a new neighbour", []string{"dir/new"}, []string{"file", "none", "other"}},
		{"the directory", []string{"dir"}, []string{"none", "other"}},
		{"a name that begins the same", []string{"di"}, []string{"dir", "file", "none", "other"}},
		{"two", []string{"dirt", "dir/file"}, []string{"none"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cache, clock := newCache(t, resultcache.Options{})
			d := disk{}
			for key, path := range map[string]string{"file": "dir/file", "dir": "dir", "root": "", "other": "dirt", "none": "-"} {
				var depends []string
				if path != "-" {
					depends = []string{abs(path)}
					d[depends[0]] = rested(time.Hour)
				}
				if !cache.Put(key, resultcache.Entry{Began: noon, Depends: depends}, d.stat) {
					t.Fatalf("%s was not kept", key)
				}
			}
			for i, path := range tt.written {
				tt.written[i] = abs(path)
			}
			cache.Invalidate(tt.written...)
			var got []string
			for _, key := range []string{"dir", "file", "none", "other", "root"} {
				if _, ok := cache.Get(key, func(path string) (resultcache.Stamp, error) { return rested(time.Hour), nil }); ok {
					got = append(got, key)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}

			// A call that overlapped the write may have seen half of it.
			if ok := cache.Put("late", resultcache.Entry{Began: noon}, nil); ok != (len(tt.written) == 0) {
				t.Errorf("a call that began before was kept: %v", ok)
			}
			clock.pass(time.Second)
			if !cache.Put("late", resultcache.Entry{Began: cache.Now()}, nil) {
				t.Error("a call that began after was not kept")
			}
			cache.Clear()
			if n := cache.Len(); n != 0 {
				t.Errorf("%d left after Clear", n)
			}
		})
	}
}

func TestCache_Bounds(t *testing.T) {
	tests := []struct {
		name    string
		options resultcache.Options
		bytes   int
		want    []string
	}{
		{"entries", resultcache.Options{Entries: 3}, 10, []string{"0", "3", "4"}},
		{"bytes", resultcache.Options{Bytes: 100_000}, 30_000, []string{"0", "3", "4"}},
		{"no bound met", resultcache.Options{}, 10, []string{"0", "1", "2", "3", "4"}},
		{"each too large", resultcache.Options{Bytes: 10_000}, 20_000, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cache, _ := newCache(t, tt.options)
			for i := range 5 {
				cache.Put(fmt.Sprint(i), resultcache.Entry{Bytes: tt.bytes, Began: noon}, nil)
				cache.Put(fmt.Sprint(i), resultcache.Entry{Bytes: tt.bytes, Began: noon}, nil) // the same again costs nothing
				cache.Get("0", nil)                                                            // so that it is not the oldest
			}
			var got []string
			for i := range 5 {
				if _, ok := cache.Get(fmt.Sprint(i), nil); ok {
					got = append(got, fmt.Sprint(i))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := resultcache.New(resultcache.Options{Entries: -1}); err == nil {
		t.Error("a negative bound is no error")
	}
}

func TestCache_DefaultEntries(t *testing.T) {
	cache, _ := newCache(t, resultcache.Options{})
	for i := range 1001 {
		cache.Put(fmt.Sprint(i), resultcache.Entry{Began: noon}, nil)
	}
	if n := cache.Len(); n != 1000 {
		t.Errorf("%d entries, want 1000", n)
	}
}

func TestKey(t *testing.T) {
	keys := []string{
		resultcache.Key("read", []byte(`{"path":"a"}`), "/w", "ses_1", "code"),
		resultcache.Key("grep", []byte(`{"path":"a"}`), "/w", "ses_1", "code"),
		resultcache.Key("read", []byte(`{"path":"b"}`), "/w", "ses_1", "code"),
		resultcache.Key("read", []byte(`{"path":"a"}`), "/v", "ses_1", "code"),
		resultcache.Key("read", []byte(`{"path":"a"}`), "/w", "ses_2", "code"),
		resultcache.Key("read", []byte(`{"path":"a"}`), "/w", "ses_1", "plan"),
		resultcache.Key("read", []byte(`{"path":"a"}`), "/wses_1", "code"),
		resultcache.Key("read", []byte(`{"path":"a"}`), "/w", "ses_1code"),
		resultcache.Key("read", []byte(`{"path":"a"}`)),
		resultcache.Key("read{", []byte(`"path":"a"}`)),
	}
	if again := resultcache.Key("read", []byte(`{"path":"a"}`), "/w", "ses_1", "code"); again != keys[0] {
		t.Error("the same call has two keys")
	}
	slices.Sort(keys)
	if n := len(slices.Compact(keys)); n != 10 {
		t.Errorf("10 calls have %d keys", n)
	}
}

// TestStampOf edits a real file in every way that leaves its time and size.
func TestStampOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	stat := func(name string) (resultcache.Stamp, error) {
		info, err := os.Stat(name)
		if err != nil {
			return resultcache.Stamp{}, err
		}
		return resultcache.StampOf(info), nil
	}
	cache, clock := newCache(t, resultcache.Options{})
	clock.now = time.Now().Add(time.Minute) // the file has rested
	write(path, "one")
	put := func() {
		t.Helper()
		if !cache.Put("k", resultcache.Entry{Began: cache.Now(), Depends: []string{path}}, stat) {
			t.Fatal("not kept")
		}
		if _, ok := cache.Get("k", stat); !ok {
			t.Fatal("stale although nothing changed")
		}
	}
	put()
	if s, _ := stat(path); s.Inode == 0 {
		t.Log("this system tells no identity of files; only time, size and mode are compared")
		write(path, "four")
	} else {
		write(path+"2", "two")
		if err := os.Rename(path+"2", path); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := cache.Get("k", stat); ok {
		t.Error("a hit although the file was replaced")
	}
	put()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, ok := cache.Get("k", stat); ok {
		t.Error("a hit although the file is gone")
	}
}

func TestCache_Concurrent(t *testing.T) {
	cache, clock := newCache(t, resultcache.Options{Entries: 8, Bytes: 20_000})
	stat := func(string) (resultcache.Stamp, error) { return rested(time.Hour), nil }
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 300 {
				key := fmt.Sprint(i % 11)
				if value, ok := cache.Get(key, stat); ok && value != key {
					t.Errorf("Get(%s) = %v", key, value)
				}
				cache.Put(key, resultcache.Entry{Value: key, Bytes: i, Began: cache.Now(), Depends: []string{abs(key)}}, stat)
				if i%50 == g {
					cache.Invalidate(abs(key))
					clock.pass(time.Millisecond)
				}
			}
		})
	}
	wg.Wait()
	if n := cache.Len(); n > 8 {
		t.Errorf("%d entries, want at most 8", n)
	}
	cache.Clear()
	if !func() bool {
		clock.pass(time.Second)
		return cache.Put("k", resultcache.Entry{Bytes: 19_000, Began: cache.Now()}, stat)
	}() {
		t.Error("an empty cache has no room: bytes were lost")
	}
	if _, ok := cache.Get("k", stat); !ok {
		t.Error("what was put is not there")
	}
}

func BenchmarkCache_Hit(b *testing.B) {
	cache, err := resultcache.New(resultcache.Options{Now: func() time.Time { return noon }})
	if err != nil {
		b.Fatal(err)
	}
	d := disk{abs("a"): rested(time.Hour)}
	cache.Put("k", resultcache.Entry{Began: noon, Depends: []string{abs("a")}}, d.stat)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := cache.Get("k", d.stat); !ok {
			b.Fatal("no hit")
		}
	}
}
