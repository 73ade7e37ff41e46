package sandbox

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// mountIn makes a directory in /tmp as an AppImage mounts itself, with a program deep in it.
func mountIn(t *testing.T) (dir, program string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", ".mount_test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	write(t, dir, map[string]string{"usr/bin/server": "", "usr/lib/words": ""})
	return dir, filepath.Join(dir, "usr", "bin", "server")
}

// What the editor names in /tmp is shown, with the AppImage or the directory that it lies
// in; /tmp as a whole, sockets, the agent's own files and the home are not, and a project
// names nothing.
func TestNamed(t *testing.T) {
	mount, program := mountIn(t)
	single, err := os.CreateTemp("/tmp", "acp-named-*.sh")
	if err != nil {
		t.Fatal(err)
	}
	single.Close()
	t.Cleanup(func() { os.Remove(single.Name()) })
	home, err := os.MkdirTemp("/tmp", "acp-home-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	write(t, home, map[string]string{"work/script": "", "own/key": ""})
	socket := filepath.Join(mount, "socket")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	near, err := os.MkdirTemp("/tmp", "acp-near-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(near) })
	write(t, near, map[string]string{"server": "", "agent/tokens/key": "", "other/server": "", "other/agent.1": ""})
	box := &Box{
		Home: home, Own: []string{filepath.Join(near, "agent")},
		Environ: []string{"SSH_AUTH_SOCK=" + filepath.Join(near, "other", "agent.1")},
	}
	for _, tt := range []struct {
		name    string
		request Request
		want    []string // all that is shown
	}{
		{"a program of an AppImage", Request{Named: true, Programs: []string{program}}, []string{program, mount}},
		{"of a project", Request{Programs: []string{program}}, nil},
		{"an argument", Request{Named: true, Programs: []string{"/bin/sh"}, Arguments: []string{program}}, []string{program, mount}},
		{"within an argument", Request{Named: true, Arguments: []string{"-c", "exec " + program + " --x"}}, []string{program, mount}},
		{"a flag", Request{Named: true, Arguments: []string{"--lib=" + program}}, []string{program, mount}},
		{"a file right in /tmp", Request{Named: true, Programs: []string{single.Name()}}, []string{single.Name()}},
		{"/tmp within an argument", Request{Named: true, Arguments: []string{"--dir=/tmp", "ls /tmp/"}}, nil},
		{"what is not there", Request{Named: true, Arguments: []string{mount + "/none"}}, nil},
		{"a socket", Request{Named: true, Arguments: []string{"--at=" + socket}}, nil},
		{"the agent's own files", Request{Named: true, Arguments: []string{"--at=" + near + "/agent/tokens/key", "--and=" + near}}, nil},
		{"near the agent's own files", Request{Named: true, Programs: []string{near + "/server"}}, []string{near + "/server"}},
		{"near a socket", Request{Named: true, Programs: []string{near + "/other/server"}}, []string{near + "/other/server"}},
		{"the home", Request{Named: true, Arguments: []string{"--at=" + home, "--and=" + home + "/work/script"}}, nil},
		{"a root", Request{Named: true, Roots: []string{mount}, Programs: []string{program}}, nil},
		{"elsewhere", Request{Named: true, Arguments: []string{"--at=/etc/hostname"}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := box.namedFiles(box.gate(), tt.request)
			slices.Sort(got)
			slices.Sort(tt.want)
			if got = slices.Compact(got); !slices.Equal(got, tt.want) {
				t.Errorf("shown %q, want %q", got, tt.want)
			}
		})
	}
}

// A file that lies right in /tmp does not show all of it, whatever names it.
func TestProgramFiles_NotAllOfTmp(t *testing.T) {
	file, err := os.CreateTemp("/tmp", "acp-named-*.sh")
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	t.Cleanup(func() { os.Remove(file.Name()) })
	box := &Box{} // a home in /tmp would keep it closed, too
	if got := box.gate().programFiles(file.Name()); !slices.Equal(got, []string{file.Name()}) {
		t.Errorf("shown %q", got)
	}
}
