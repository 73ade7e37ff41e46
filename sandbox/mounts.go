package sandbox

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// access is what a command may do with a place, the strongest last.
type access int

const (
	readable access = iota
	writable
	readOnly
	masked
	secret
)

// place is one path of a policy as it stands on the disk.
type place struct {
	path   string // without links
	access access
	dir    bool
}

// hidden are the directories in whose place the command sees its own.
var hidden = [...]string{"/tmp", "/var/tmp", "/run"}

// places are the paths of the policy that exist, resolved, parents before what lies
// beneath them, each once.
func (p *Policy) places() []place {
	byPath := map[string]place{}
	for a, paths := range [...][]string{readable: p.Readable, writable: p.Writable, readOnly: p.ReadOnly, masked: p.Masked, secret: p.Secrets} {
		for _, path := range paths {
			add(byPath, path, access(a))
		}
	}
	sorted := make([]place, 0, len(byPath))
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		sorted = append(sorted, byPath[path])
	}
	return sorted
}

func add(byPath map[string]place, path string, a access) {
	if !filepath.IsAbs(path) {
		return // what is not known, such as an empty home
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real == "/" {
		return
	}
	info, err := os.Lstat(real)
	if err != nil {
		return
	}
	if old, known := byPath[real]; !known || a > old.access {
		byPath[real] = place{path: real, access: a, dir: info.IsDir()}
	}
}

// Within reports whether a path is a directory or lies in it, links followed where
// there is anything.
func Within(path, dir string) bool {
	for _, p := range []*string{&path, &dir} {
		if real, err := filepath.EvalSymlinks(*p); err == nil {
			*p = real
		}
	}
	return beneath(path, dir)
}

// beneath reports whether path is dir or lies in it.
func beneath(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// visible drops the places that say nothing: what is readable anyhow, and what is
// to be kept from a command that does not see it.
func visible(all []place) []place {
	var kept []place
	for _, p := range all {
		exposed, covered := false, false // by the nearest place above
		for _, dir := range hidden {
			covered = covered || beneath(p.path, dir)
		}
		for _, above := range kept {
			if beneath(p.path, above.path) {
				exposed, covered = above.access < masked, above.access >= masked
			}
		}
		switch {
		case p.access == readable && !covered && !exposed,
			p.access >= masked && covered && !exposed,
			p.access == readOnly && !exposed:
		default:
			kept = append(kept, p)
		}
	}
	return kept
}
