package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/pathname"
)

// Host is where cgroups are found and made.
type Host struct {
	// Proc is the mounted proc file system.
	Proc string
	// UID is the user whose delegated subtree may be written.
	UID int
}

// System is the host that this process runs on.
func System() Host { return Host{Proc: "/proc", UID: os.Getuid()} }

// Names of controllers, as the kernel spells them.
const (
	memoryController    = "memory"
	processesController = "pids"
)

// parent is a directory in which a child cgroup bounds some resources.
type parent struct {
	dir        string
	unified    bool   // version 2
	controller string // of version 1
	resources  []Resource
}

// parents are the directories in which Create makes a cgroup each.
func (h Host) parents() []parent {
	own, mounts := h.own(), h.mounts()
	if p, ok := h.delegated(own[""], mounts); ok {
		return []parent{p}
	}
	var list []parent
	for _, c := range []struct {
		controller string
		resource   Resource
	}{{memoryController, Memory}, {processesController, Processes}} {
		if dir := locate(mounts, c.controller, own[c.controller]); dir != "" {
			list = append(list, parent{dir: dir, controller: c.controller, resources: []Resource{c.resource}})
		}
	}
	return list
}

// delegated is the nearest directory of version 2, at the own cgroup or above it, whose
// children bound memory. Children of the own cgroup usually cannot, because it holds this
// process. A directory above it is taken only when it belongs to this user; for root none
// is, because root owns those of the whole system.
func (h Host) delegated(own string, mounts []mount) (parent, bool) {
	m, dir := unified(mounts, own)
	for first := true; dir != ""; first = false {
		if !first && (h.UID == 0 || !ownedBy(dir, h.UID)) {
			return parent{}, false
		}
		enabled := words(filepath.Join(dir, "cgroup.subtree_control"))
		if slices.Contains(enabled, memoryController) {
			p := parent{dir: dir, unified: true, resources: []Resource{Memory}}
			if slices.Contains(enabled, processesController) {
				p.resources = append(p.resources, Processes)
			}
			return p, true
		}
		if dir == m.point {
			return parent{}, false
		}
		dir = filepath.Dir(dir)
	}
	return parent{}, false
}

// own maps each controller of version 1 to the cgroup of this process, and ""
// to that of version 2.
func (h Host) own() map[string]string {
	own := map[string]string{}
	for line := range strings.Lines(read(filepath.Join(h.Proc, "self/cgroup"))) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) != 3 {
			continue
		}
		for controller := range strings.SplitSeq(fields[1], ",") {
			own[controller] = fields[2]
		}
	}
	return own
}

// mount is a mounted cgroup file system.
type mount struct {
	root, point string
	version2    bool
	options     []string // the controllers, of version 1
}

// mounts reads the mount table: `id parent dev root point options - type source options`.
func (h Host) mounts() []mount {
	var list []mount
	for line := range strings.Lines(read(filepath.Join(h.Proc, "self/mountinfo"))) {
		before, after, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 6 || len(right) < 3 || right[0] != "cgroup" && right[0] != "cgroup2" {
			continue
		}
		list = append(list, mount{
			root: left[3], point: unescape(left[4]), version2: right[0] == "cgroup2", options: strings.Split(right[2], ","),
		})
	}
	return list
}

// unescape undoes the octal escapes of the mount table.
func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

// locate is the directory of a cgroup of version 1; empty when it is not mounted.
func locate(mounts []mount, controller, own string) string {
	for _, m := range mounts {
		if !m.version2 && slices.Contains(m.options, controller) {
			return m.dir(own)
		}
	}
	return ""
}

func unified(mounts []mount, own string) (mount, string) {
	for _, m := range mounts {
		if m.version2 {
			return m, m.dir(own)
		}
	}
	return mount{}, ""
}

// dir is where a cgroup lies below the mount; empty when it lies elsewhere.
func (m mount) dir(own string) string {
	rel, ok := pathname.Rel(m.root, own)
	if !ok {
		return ""
	}
	return filepath.Join(m.point, rel)
}

// read returns a small file of the kernel; one that is missing is empty.
func read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

func words(path string) []string { return strings.Fields(read(path)) }
