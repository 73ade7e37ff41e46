package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"acp-agent/internal/pathname"
)

// Bubblewrap finds what it is to mount by its path, and follows links. A command that runs meanwhile may put one on the way: it
// would have another place mounted, such as the home, or what is to be covered left open. So our binary looks at the mounts
// from within before the command starts, where others run that can write.

// mount is one of a table of mounts.
type mount struct {
	// Path is where it is mounted; Device and Root are what is: a file system, and a path in it.
	Path   string `json:"path"`
	Device string `json:"device"`
	Root   string `json:"root"`
}

// looksAtMounts reports whether that is done. Our own namespaces follow no link.
func (p *Policy) looksAtMounts() bool { return p.Kind == Bubblewrap && p.Beside }

// wantedMounts are the mounts that a command may see. Those of the machine may lie in a bound directory, too, once for each.
type wantedMounts struct {
	// Shown are what the policy shows of the machine, Machine what is mounted there already.
	Shown   []mount `json:"shown"`
	Machine []mount `json:"machine"`
	// Needed are the paths in directories of commands at which something has to be mounted.
	Needed []string `json:"needed"`
}

// wantedMounts are those of a view of the policy's.
func (p *Policy) wantedMounts(v view) (*wantedMounts, error) {
	table, ids, err := mounts()
	if err != nil {
		return nil, err
	}
	w := &wantedMounts{Machine: table}
	for _, step := range v {
		bound := step.do == showReadOnly || step.do == showWritable
		if bound || step.do == emptyDir || step.do == coverFile {
			within := func(dir string) bool { return dir != step.path && pathname.Contains(dir, step.path) }
			if slices.ContainsFunc(p.Writable, within) || slices.ContainsFunc(p.Readable, within) {
				w.Needed = append(w.Needed, step.path)
			}
		}
		if !bound {
			continue
		}
		id, err := mountOf(step.from)
		at := slices.Index(ids, id)
		if err != nil || at < 0 {
			return nil, fmt.Errorf("%s is no longer what it was; run the command again", step.from)
		}
		rel, _ := pathname.Rel(table[at].Path, step.from)
		w.Shown = append(w.Shown, mount{step.path, table[at].Device, filepath.Join(table[at].Root, rel)})
		for _, m := range table {
			if m.Path != step.from && pathname.Contains(step.from, m.Path) {
				w.Machine = append(w.Machine, m)
			}
		}
	}
	return w, nil
}

// check returns an error when a command would see other mounts.
func (w *wantedMounts) check() error {
	table, _, err := mounts()
	if err != nil {
		return err
	}
	left, made := map[mount]int{}, map[string]bool{}
	for _, m := range w.Machine {
		left[m]++
		made[m.Device] = true
	}
	for _, m := range table {
		ours := pathname.Contains("/dev", m.Path) || pathname.Contains("/proc", m.Path) || !made[m.Device]
		shown := slices.ContainsFunc(w.Shown, func(s mount) bool { return s.Device == m.Device && s.Root == m.Root })
		if ours || shown {
			continue
		}
		if left[m]--; left[m] < 0 {
			return fmt.Errorf("%s has become something else while the sandbox was made; run the command again", m.Path)
		}
	}
	for _, path := range w.Needed {
		if !slices.ContainsFunc(table, func(m mount) bool { return m.Path == path }) {
			return fmt.Errorf("%s was moved while the sandbox was made; run the command again", path)
		}
	}
	return nil
}

// mounts are the mounts that this process sees, with their numbers.
func mounts() (table []mount, ids []int, err error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, nil, err
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		dash := slices.Index(fields, "-")
		if len(fields) < 5 || dash < 0 || dash+1 == len(fields) {
			return nil, nil, errors.New("the table of mounts is not understood")
		}
		id, err := strconv.Atoi(fields[0])
		if err != nil {
			return nil, nil, errors.New("the table of mounts is not understood")
		}
		if strings.HasPrefix(fields[dash+1], "cgroup") {
			continue // what it shows depends on the process
		}
		table, ids = append(table, mount{unescape.Replace(fields[4]), fields[2], unescape.Replace(fields[3])}), append(ids, id)
	}
	return table, ids, nil
}

// mountOf is the number of the mount that a path without links lies in.
func mountOf(path string) (id int, err error) {
	fd, err := openWithoutLinks(path, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(info)) {
		if text, ok := strings.CutPrefix(line, "mnt_id:"); ok {
			return strconv.Atoi(strings.TrimSpace(text))
		}
	}
	return 0, errors.New("the mount is not known")
}
