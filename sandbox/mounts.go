package sandbox

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/pathname"
)

// access is what a command may do with a place, the strongest last.
type access int

const (
	concealed access = iota
	readable
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
	byPath, r := map[string]place{}, resolver{}
	for _, c := range p.Checked {
		if at := r.resolve(c.Path); at.path != c.Path || at.info == nil || !c.is(at.info) {
			r[c.Path] = resolvedPath{} // nothing, and nothing lies beneath
		}
	}
	for a, paths := range [...][]string{concealed: p.Concealed, readable: p.Readable, writable: p.Writable, readOnly: p.ReadOnly, masked: p.Masked, secret: p.Secrets} {
		for _, path := range paths {
			if !filepath.IsAbs(path) {
				continue // what is not known, such as an empty home
			}
			at := r.resolve(path)
			if gives := access(a) == readable || access(a) == writable; gives && p.ledOut(path, at.path, r) {
				continue
			}
			add(byPath, at, access(a))
		}
	}
	sorted := make([]place, 0, len(byPath))
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		sorted = append(sorted, byPath[path])
	}
	return sorted
}

// ledOut reports a path in a directory that commands can write in, which links have led to a real one outside of that: a
// command may put a link there at any moment, to be given the place to which it leads.
func (p *Policy) ledOut(path, real string, r resolver) bool {
	return slices.ContainsFunc(p.Writable, func(dir string) bool {
		return dir != path && pathname.Contains(dir, path) && !pathname.Contains(r.resolve(dir).path, real)
	})
}

func add(byPath map[string]place, at resolvedPath, a access) {
	if at.info == nil || at.path == "/" {
		return
	}
	if old, known := byPath[at.path]; !known || a > old.access {
		byPath[at.path] = place{path: at.path, access: a, dir: at.info.IsDir()}
	}
}

// resolver finds what [filepath.EvalSymlinks] does, and remembers the directories on the way,
// which the paths of a policy share. It is good for the moment.
type resolver map[string]resolvedPath

// resolvedPath is a path without links, and what is there; info is nil where nothing is.
type resolvedPath struct {
	path string
	info fs.FileInfo
}

func (r resolver) resolve(path string) resolvedPath {
	if at, known := r[path]; known {
		return at
	}
	dir := filepath.Dir(path)
	if path != filepath.Clean(path) || dir == path {
		return follow(path)
	}
	above, known := r[dir]
	if !known {
		above = r.resolve(dir)
		r[dir] = above
	}
	if above.info == nil || !above.info.IsDir() {
		return resolvedPath{}
	}
	at := resolvedPath{path: filepath.Join(above.path, filepath.Base(path))}
	var err error
	if at.info, err = os.Lstat(at.path); err != nil {
		return resolvedPath{}
	}
	if at.info.Mode()&fs.ModeSymlink != 0 {
		return follow(at.path)
	}
	return at
}

// follow resolves one path by itself.
func follow(path string) resolvedPath {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return resolvedPath{}
	}
	info, err := os.Lstat(real)
	if err != nil {
		return resolvedPath{}
	}
	return resolvedPath{real, info}
}

// ContainsReal is [pathname.Contains] with the links of both followed where there is
// anything.
func ContainsReal(dir, path string) bool {
	for _, p := range []*string{&path, &dir} {
		if real, err := filepath.EvalSymlinks(*p); err == nil {
			*p = real
		}
	}
	return pathname.Contains(dir, path)
}

// visible drops the places that say nothing: what is readable anyhow, and what is
// to be kept from a command that does not see it.
func visible(all []place) []place {
	var kept []place
	for _, p := range all {
		exposed, covered := false, false // by the nearest place above
		for _, dir := range hidden {
			covered = covered || pathname.Contains(dir, p.path)
		}
		for _, above := range kept {
			if pathname.Contains(above.path, p.path) {
				covered = above.access >= masked || above.access == concealed
				exposed = !covered
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

// link is a symbolic link of the disk in a directory that is concealed.
type link struct{ path, target string }

// links are those on the way to what the policy names, which a command finds by the
// names that it knows.
func (p *Policy) links(shown []place) []link {
	var found []link
	r := resolver{}
	for _, list := range [][]string{p.Readable, p.Writable} {
		for _, path := range list {
			if at := r.resolve(path); at.info != nil && at.path != filepath.Clean(path) {
				found = followed(found, filepath.Clean(path))
			}
		}
	}
	found = slices.DeleteFunc(found, func(l link) bool { return !inConcealed(shown, l.path) })
	slices.SortFunc(found, func(a, b link) int { return strings.Compare(a.path, b.path) })
	return slices.Compact(found)
}

// followed adds the links on the way of a path, which leads somewhere.
func followed(found []link, path string) []link {
	const most = 255 // steps, against links that lead to each other
	dir, rest := "/", strings.Split(strings.TrimPrefix(path, "/"), "/")
	for range most {
		if len(rest) == 0 {
			break
		}
		next := filepath.Join(dir, rest[0])
		rest = rest[1:]
		target, err := os.Readlink(next)
		if err != nil {
			dir = next
			continue
		}
		found = append(found, link{next, target})
		if filepath.IsAbs(target) {
			dir = "/"
		}
		// What is above a link is resolved, so its target may be cleaned with it.
		steps := strings.Split(strings.TrimPrefix(filepath.Join(dir, target), "/"), "/")
		dir, rest = "/", slices.Concat(steps, rest)
	}
	return found
}

// inConcealed reports whether the nearest place above a path is a concealed one.
func inConcealed(shown []place, path string) bool {
	in := false
	for _, at := range shown {
		if pathname.Contains(at.path, path) {
			in = at.access == concealed
		}
	}
	return in
}
