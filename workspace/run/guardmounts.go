package run

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"acp-agent/internal/pathname"
)

// pinned is a protected name that is mounted read-only for a command, with the directories
// on the way to it: while those are the same, the command cannot have changed it.
type pinned struct {
	name string
	way  []fs.FileInfo // from the root's own entries down to the name's directory
}

// mountable are the names that are kept from a command by mounts, as absolute paths: the
// first maxMounted, for a mount takes longer the more of them there are. The others are
// compared.
func (g *guard) mountable() []string {
	var paths []string
	for i := range g.roots {
		at := &g.roots[i]
		for _, name := range at.walk.names {
			if len(paths) == maxMounted {
				return paths
			}
			info, err := at.root.Handle.Lstat(filepath.FromSlash(name))
			if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
				continue // a mount is on what a link leads to
			}
			if way, ok := at.wayTo(name); ok {
				at.pins = append(at.pins, pinned{name, way})
				paths = append(paths, at.abs(name))
			}
		}
	}
	return paths
}

// wayTo are the directories between the root and a name.
func (at *guardedRoot) wayTo(name string) (way []fs.FileInfo, ok bool) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := at.root.Handle.Lstat(filepath.FromSlash(dir))
		if err != nil {
			return nil, false
		}
		way = append(way, info)
	}
	return way, true
}

// outOfReach reports whether a name was mounted read-only and lies where it lay: a
// change there is the user's own.
func (at *guardedRoot) outOfReach(name string) bool {
	if !at.mounted {
		return false
	}
	for _, pin := range at.pins {
		if !pathname.Contains(pin.name, name) {
			continue
		}
		way, ok := at.wayTo(pin.name)
		if !ok || len(way) != len(pin.way) {
			return false
		}
		for i := range way {
			if !os.SameFile(way[i], pin.way[i]) {
				return false
			}
		}
		return true
	}
	return false
}

// mounts reports whether some name is mounted read-only for the command.
func (g *guard) mounts() bool {
	return g != nil && slices.ContainsFunc(g.roots, func(at guardedRoot) bool { return at.mounted && len(at.pins) > 0 })
}
