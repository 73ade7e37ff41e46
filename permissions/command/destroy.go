package command

import (
	"path/filepath"
	"strings"

	"acp-agent/internal/pathname"
)

// deletesAll finds DN1: a recursive or forced delete of a root, a home, the workspace, an ancestor of it,
// or a directory of the system.
func (d *denial) deletesAll(s simple) finding {
	var targets []word
	switch s.name() {
	case "rm":
		if !hasFlag(s, "rRfd", "--recursive", "--force", "--no-preserve-root", "--dir") {
			return finding{}
		}
		targets = operands(s)
	case "find":
		if !hasAnyArg(s, "-delete") && !runsRemoval(s) || narrows(s) {
			return finding{}
		}
		targets = findRoots(s)
	case "rmdir", "unlink", "trash", "srm", "rd", "del":
		targets = operands(s)
	default:
		return finding{}
	}
	for _, w := range targets {
		if d.vital(w, s.at, true) {
			return denies(DeleteAll, s.name()+" would delete "+w.String()+", which is a root, a home or the workspace")
		}
	}
	return finding{}
}

// ownsAll finds DN11: a recursive change of the mode or owner of such a directory.
func (d *denial) ownsAll(s simple) finding {
	switch s.name() {
	case "chmod", "chown", "chgrp", "setfacl", "chattr":
	default:
		return finding{}
	}
	if !hasFlag(s, "R", "--recursive") {
		return finding{}
	}
	ops := operands(s)
	for _, w := range ops[min(1, len(ops)):] {
		if d.vital(w, s.at, false) { // the modes of the workspace may be changed
			return denies(ChmodAll, s.name()+" would change all of "+w.String())
		}
	}
	return finding{}
}

// vital reports a target that is a root, a home or a directory of the system, by its name or after links.
// workspace says that the workspace counts, too.
func (ps *paths) vital(w word, at dirs, workspace bool) bool {
	v := w.value
	if home := strings.TrimRight(stripAll(v), "/"); strings.HasPrefix(home, "~") && !strings.Contains(home, "/") {
		return true // some user's home
	}
	if strings.HasPrefix(v, unknown+"/") || v == unknown {
		// "$X/" with X empty is the root; a bare "$X" is only asked about.
		return v == unknown+"/" || v == unknown+"/*"
	}
	v = stripAll(v)
	if strings.Contains(v, unknown) {
		return false
	}
	if v == "" {
		v = "."
		if strings.HasPrefix(w.value, "/") {
			v = "/"
		}
	}
	names, ok := at.join(v)
	if !ok {
		return v == "." || v == ".." || traverses(v)
	}
	for _, name := range names {
		if ps.vitalPath(filepath.Clean(name), workspace) {
			return true
		}
		if resolved, _ := ps.env.Inside(name); resolved != "" && resolved != filepath.Clean(name) && ps.vitalPath(resolved, workspace) {
			return true
		}
	}
	return false
}

// stripAll turns "dir/*", "dir/.*" and "dir/{*,.*}" into "dir", since all of them mean its whole content.
func stripAll(v string) string {
	for {
		base := v
		for _, all := range []string{"*", ".*", ".[!.]*", ".??*", "{*,.*}", "{,.}*", "**"} {
			if v == all {
				return ""
			}
			if rest, ok := strings.CutSuffix(v, "/"+all); ok {
				v = rest
			}
		}
		if len(v) > 1 {
			v = strings.TrimSuffix(v, "/")
		}
		if v == base {
			return v
		}
	}
}

// vitalPath is vital for an absolute path.
func (ps *paths) vitalPath(name string, workspace bool) bool {
	name = filepath.ToSlash(name)
	if name == "/" || len(name) <= 3 && strings.HasSuffix(name, ":") || len(name) == 3 && name[1] == ':' {
		return true
	}
	if home := filepath.ToSlash(filepath.Clean(ps.env.Home)); ps.env.Home != "" && pathname.Contains(name, home) {
		return true
	}
	for _, root := range ps.env.Roots {
		if root == "" {
			continue
		}
		root = filepath.ToSlash(filepath.Clean(root))
		if pathname.Contains(name, root) {
			return workspace || name != root
		}
		if pathname.Contains(root, name) {
			return false
		}
	}
	return systemDir(name)
}

// systemDir reports a directory without which the machine does not work: any at the top level but the
// temporary ones, the homes of other users, and those inside the system's own.
func systemDir(name string) bool {
	parts := strings.Split(strings.Trim(name, "/"), "/")
	if len(parts) == 1 {
		return parts[0] != "tmp"
	}
	switch parts[0] {
	case "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "root", "run", "sbin", "sys", "usr",
		"System", "Library", "Applications":
		return true
	case "home", "Users":
		return len(parts) == 2
	case "var":
		return parts[1] != "tmp"
	}
	return false
}
