package main

import (
	"testing"
	"testing/fstest"
)

func TestMemoryLimit(t *testing.T) {
	const none1 = "9223372036854771712\n" // as version 1 writes it
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"no control groups", nil, 0},
		{"version 2, own group", map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000\n"}, 1000},
		{"version 2, lower above", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "3000\n", "sys/fs/cgroup/a/memory.max": "2000\n",
		}, 2000},
		{"version 2, max", map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, 0},
		{"version 2, container", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000\n"}, 1000},
		{"version 1", map[string]string{
			"proc/self/cgroup": "9:cpu,cpuacct:/x\n8:memory:/a\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "1000\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": none1,
		}, 1000},
		{"version 1, none", map[string]string{"proc/self/cgroup": "8:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": none1}, 0},
		{"version 1, a path of the host", map[string]string{
			"proc/self/cgroup": "8:memory:/docker/0123\n0::/docker/0123\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "1000\n",
		}, 1000},
		{"of another controller", map[string]string{"proc/self/cgroup": "8:memoryx:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "1000\n"}, 0},
		{"a path that climbs", map[string]string{"proc/self/cgroup": "0::/../../a\n", "sys/fs/cgroup/a/memory.max": "1000\n"}, 1000},
		{"garbage", map[string]string{"proc/self/cgroup": "x\n0::/a\n", "sys/fs/cgroup/a/memory.max": "-5 apples\n"}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			files := fstest.MapFS{}
			for name, text := range tc.files {
				files[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := memoryLimit(files); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}

func BenchmarkMemoryLimit(b *testing.B) {
	for b.Loop() {
		memoryLimit(machine())
	}
}
