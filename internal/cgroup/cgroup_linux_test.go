package cgroup

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"acp-agent/internal/testkit/testreq"
)

// group makes a cgroup that bounds memory and processes, or skips the test.
func group(t *testing.T, l Limits) *Group {
	t.Helper()
	g := System().Create(l)
	t.Cleanup(g.Remove)
	if l.Memory > 0 && !g.Bounds(Memory) || l.Processes > 0 && !g.Bounds(Processes) {
		testreq.Skip(t, "a directory of cgroups that may be written")
	}
	return g
}

// in runs a shell command in the cgroup.
func in(t *testing.T, g *Group, text string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "read _; "+text)
	into, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	g.Add(cmd.Process.Pid)
	into.Write([]byte("\n"))
	into.Close()
	_ = cmd.Wait() // how it ended is what the test is not about
}

func TestGroup_Memory(t *testing.T) {
	g := group(t, Limits{Memory: 32 << 20})
	in(t, g, "true")
	if got := g.Exceeded(); got != "" {
		t.Errorf("exceeded %q by a command that needs little", got)
	}
	in(t, g, "head -c 100000000 /dev/zero | tail -c 100000000 >/dev/null")
	if got := g.Exceeded(); got != Memory {
		t.Errorf("exceeded %q, want %q", got, Memory)
	}
}

func TestGroup_Processes(t *testing.T) {
	g := group(t, Limits{Processes: 5})
	in(t, g, "sleep 0")
	if got := g.Exceeded(); got != "" {
		t.Errorf("exceeded %q by a command of two processes", got)
	}
	in(t, g, "for i in 1 2 3 4 5 6 7 8; do cat /dev/null | cat | cat | cat | cat & done; wait")
	if got := g.Exceeded(); got != Processes {
		t.Errorf("exceeded %q, want %q", got, Processes)
	}
}

// TestGroup_RemoveLeavesNothing holds that the end of a command removes its cgroup.
func TestGroup_RemoveLeavesNothing(t *testing.T) {
	g := group(t, Limits{Memory: 32 << 20, Processes: 100})
	var dirs []string
	for _, m := range g.members {
		dirs = append(dirs, m.dir)
	}
	in(t, g, "true")
	g.Remove()
	for _, dir := range dirs {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
}

// TestHost_SweepRemovesOfTheDead holds that the cgroups of an owner that was killed
// are removed with what runs there, and those of a living one and of another PID
// namespace are not.
func TestHost_SweepRemovesOfTheDead(t *testing.T) {
	h := System()
	alive := group(t, Limits{Memory: 32 << 20})
	dir := filepath.Dir(alive.members[0].dir)
	made := func(o owner) string {
		path := filepath.Join(dir, o.name())
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Remove(path) }) // the sweep may have removed it
		return path
	}
	self := h.self()
	reused := made(owner{self.namespace, self.pid, self.started + 1})
	ended := made(owner{self.namespace, 1 << 30, 1})
	elsewhere := made(owner{self.namespace + 1, 1 << 30, 1})
	zombie := exec.CommandContext(t.Context(), "sh", "-c", "read _")
	input, err := zombie.StdinPipe()
	if err == nil {
		err = zombie.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	unreaped := made(owner{self.namespace, zombie.Process.Pid, h.started(zombie.Process.Pid)})
	input.Close()
	for h.started(zombie.Process.Pid) != 0 { // ends once the process has
		runtime.Gosched()
	}
	defer zombie.Wait()
	orphan := exec.CommandContext(t.Context(), "sleep", "600")
	if err := orphan.Start(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ended, "cgroup.procs"), []byte(fmt.Sprint(orphan.Process.Pid)), 0o644); err != nil {
		t.Fatal(err)
	}
	go func() { _ = orphan.Wait() }() // reaps it, which lets go of the cgroup
	if removed := h.Sweep(); removed < 3 {
		t.Errorf("%d removed, want 3", removed)
	}
	for path, want := range map[string]bool{reused: false, ended: false, unreaped: false, elsewhere: true, alive.members[0].dir: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: there is %v, want %v", path, err == nil, want)
		}
	}
}

// machine is a made-up proc file system and a tree of cgroups.
func machine(t *testing.T, uid int, cgroup, mounts string, files map[string]string) Host {
	t.Helper()
	root := t.TempDir()
	files["proc/self/cgroup"] = cgroup
	files["proc/self/mountinfo"] = strings.ReplaceAll(mounts, "ROOT", root)
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Host{Proc: filepath.Join(root, "proc"), UID: uid}
}

const version2 = "30 23 0:26 / ROOT/cg rw - cgroup2 cgroup2 rw\n"

// TestHost_Parents holds in which directory a cgroup is made: one that bounds
// memory, that is the own one or one above it which is the user's, and none else.
func TestHost_Parents(t *testing.T) {
	own := os.Getuid() + 1000 // the files of the test are not this user's
	ofUser := []string{"cg/a [memory]"}
	if os.Getuid() == 0 {
		ofUser = nil // every directory is root's, so owning one tells nothing
	}
	tests := []struct {
		name           string
		uid            int
		cgroup, mounts string
		files          map[string]string
		want           []string
	}{
		{
			"own cgroup delegates", own, "0::/a/b\n", version2,
			map[string]string{"cg/a/b/cgroup.subtree_control": "memory pids"},
			[]string{"cg/a/b [memory processes]"},
		},
		{
			"slice of the user", os.Getuid(), "0::/a/b\n", version2,
			map[string]string{"cg/a/b/cgroup.subtree_control": "", "cg/a/cgroup.subtree_control": "cpu memory"},
			ofUser,
		},
		{
			"slice of the system", own, "0::/a/b\n", version2,
			map[string]string{"cg/a/b/cgroup.subtree_control": "", "cg/a/cgroup.subtree_control": "memory pids"},
			nil,
		},
		{
			"root takes no slice", 0, "0::/a/b\n", version2,
			map[string]string{"cg/a/b/cgroup.subtree_control": "", "cg/a/cgroup.subtree_control": "memory pids"},
			nil,
		},
		{
			"version 1", own, "9:memory:/x\n8:pids:/\n0::/\n",
			"31 30 0:32 / ROOT/m rw - cgroup cgroup rw,memory\n32 30 0:33 / ROOT/p\\040q rw - cgroup cgroup rw,pids\n",
			map[string]string{},
			[]string{"m/x [memory]", "p q [processes]"},
		},
		{
			"mount of a container", own, "9:memory:/docker/1/x\n", "31 30 0:32 /docker/1 ROOT/m rw - cgroup cgroup rw,memory\n",
			map[string]string{},
			[]string{"m/x [memory]"},
		},
		{
			"mount of another container", own, "9:memory:/docker/1\n", "31 30 0:32 /docker/2 ROOT/m rw - cgroup cgroup rw,memory\n",
			map[string]string{},
			nil,
		},
		{"nothing is mounted", own, "0::/a\n", "", map[string]string{}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := machine(t, test.uid, test.cgroup, test.mounts, test.files)
			var got []string
			for _, p := range h.parents() {
				rel, err := filepath.Rel(filepath.Dir(h.Proc), p.dir)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprint(rel, " ", p.resources))
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("parents %q, want %q", got, test.want)
			}
		})
	}
}

// TestHost_CreateVersion2 holds what is written into a directory of version 2.
func TestHost_CreateVersion2(t *testing.T) {
	h := machine(t, 0, "0::/a\n", version2, map[string]string{"cg/a/cgroup.subtree_control": "memory pids"})
	// The kernel fills a new directory with files; the made-up one does not.
	g := h.Create(Limits{Memory: 1 << 30, Processes: 9})
	if g.Bounds(Memory) || g.Bounds(Processes) {
		t.Error("the limits count as in force without the kernel's files")
	}
	p := parent{dir: t.TempDir(), unified: true}
	for _, name := range []string{"memory.max", "memory.swap.max", "memory.oom.group", "pids.max"} {
		if err := os.WriteFile(filepath.Join(p.dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l := Limits{Memory: 1 << 30, Processes: 9}
	if !p.setLimit(Memory, l) || !p.setLimit(Processes, l) {
		t.Error("the limits were not written")
	}
	for name, want := range map[string]string{"memory.max": "1073741824", "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": "9"} {
		if got := read(filepath.Join(p.dir, name)); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestHost_Memory holds which memory limit of the own cgroups counts, and that the memory
// of the machine counts where there is none.
func TestHost_Memory(t *testing.T) {
	const (
		meminfo  = "MemTotal:       1000 kB\nMemFree: 10 kB\n"
		version1 = "31 30 0:32 / ROOT/m rw - cgroup cgroup rw,memory\n"
		none1    = "9223372036854771712\n" // as version 1 writes it
	)
	tests := []struct {
		name           string
		cgroup, mounts string
		files          map[string]string
		want           uint64
	}{
		{"no cgroups", "", "", nil, 0},
		{"own", "0::/a/b\n", version2, map[string]string{"cg/a/b/memory.max": "4096\n"}, 4096},
		{"lower above", "0::/a/b\n", version2, map[string]string{"cg/a/b/memory.max": "8192\n", "cg/a/memory.max": "4096\n"}, 4096},
		{"only above", "0::/a/b\n", version2, map[string]string{"cg/a/memory.max": "4096\n", "cg/a/b/memory.max": "max\n"}, 4096},
		{"none", "0::/a/b\n", version2, map[string]string{"cg/a/b/memory.max": "max\n"}, 0},
		{"more than the machine has", "0::/a\n", version2, map[string]string{"cg/a/memory.max": "4096000\n"}, 0},
		{"container", "0::/\n", version2, map[string]string{"cg/memory.max": "4096\n"}, 4096},
		{
			"version 1", "9:cpu,cpuacct:/y\n8:memory:/x\n", version1,
			map[string]string{"m/x/memory.limit_in_bytes": "8192\n", "m/memory.limit_in_bytes": none1},
			8192,
		},
		{"version 1, none", "8:memory:/\n", version1, map[string]string{"m/memory.limit_in_bytes": none1}, 0},
		{
			"version 1, a path of the machine", "8:memory:/docker/1\n0::/docker/1\n", version1,
			map[string]string{"m/memory.limit_in_bytes": "4096\n"},
			4096,
		},
		{
			"both versions", "8:memory:/\n0::/\n", version1 + version2,
			map[string]string{"m/memory.limit_in_bytes": "4096\n", "cg/memory.max": "8192\n"},
			4096,
		},
		{"another controller", "8:memoryx:/\n", version1, map[string]string{"m/memory.limit_in_bytes": "4096\n"}, 0},
		{"a path that climbs", "0::/../../a\n", version2, map[string]string{"cg/a/memory.max": "4096\n"}, 4096},
		{"garbage", "x\n0::/a\n", version2, map[string]string{"cg/a/memory.max": "-5 apples\n"}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{"proc/meminfo": meminfo}
			maps.Copy(files, test.files)
			h := machine(t, 0, test.cgroup, test.mounts, files)
			if got := h.Limit(); got != test.want {
				t.Errorf("limit %d, want %d", got, test.want)
			}
			if got, want := h.Total(), cmp.Or(test.want, 1000<<10); got != want {
				t.Errorf("total %d, want %d", got, want)
			}
		})
	}
	if got := machine(t, 0, "", "", map[string]string{}).Total(); got != 0 {
		t.Errorf("total %d of a machine that says nothing", got)
	}
}

func BenchmarkHost_Limit(b *testing.B) {
	for b.Loop() {
		System().Limit()
	}
}

// startIn starts a program as forkInto of launch does, and tells its cgroups.
func startIn(t *testing.T, g *Group) string {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	leave := g.Enter()
	cmd := exec.CommandContext(t.Context(), "cat", "/proc/self/cgroup")
	if fd, ok := g.StartIn(); ok {
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: fd}
	}
	out, err := cmd.CombinedOutput()
	leave()
	if err != nil {
		t.Fatal(err, string(out))
	}
	return string(out)
}

// TestGroup_Born holds that what a thread of the group starts is born there, and that
// the thread is outside again.
func TestGroup_Born(t *testing.T) {
	g := group(t, Limits{Memory: 64 << 20, Processes: 20})
	in := startIn(t, g)
	outside := read("/proc/thread-self/cgroup")
	for _, m := range g.members {
		if !m.holds(in) {
			t.Errorf("%s does not hold a process of\n%s", m.dir, in)
		}
		if m.holds(outside) {
			t.Errorf("%s holds the thread still", m.dir)
		}
	}
}

// TestGroup_BornVersion2 holds that the kernel starts a process in a directory of version
// 2. That it bounds anything is not needed for it.
func TestGroup_BornVersion2(t *testing.T) {
	h := System()
	_, above := unified(h.mounts(), h.own()[""])
	dir := filepath.Join(above, h.self().name())
	if above == "" || os.Mkdir(dir, 0o755) != nil {
		testreq.Skip(t, "a directory of cgroups of version 2 that may be written")
	}
	m := member{parent: parent{dir: dir, unified: true}}
	if err := m.open(); err != nil {
		t.Fatal(err)
	}
	g := &Group{members: []member{m}}
	t.Cleanup(g.Remove)
	if in := startIn(t, g); !m.holds(in) {
		t.Errorf("%s does not hold a process of\n%s", dir, in)
	}
}
