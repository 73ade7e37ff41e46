package config

import (
	"path/filepath"

	"acp-agent/internal/pathname"
)

// PackageCaches returns the directories in which package managers keep the sources of
// what a project depends on: readable by default, for "what does this function of the
// library do" is an everyday question. Only places whose path is certain without
// running the tool are named, and none that also holds settings or credentials. They
// need not exist.
func (s Sources) PackageCaches() []string {
	var dirs []string
	add := func(root string, elem ...string) {
		dir := filepath.Join(append([]string{root}, elem...)...)
		if filepath.IsAbs(root) && !s.holdsHome(dir) {
			dirs = appendNew(dirs, dir)
		}
	}
	home := func(elem ...string) string {
		if s.HomeDir == "" {
			return ""
		}
		return filepath.Join(append([]string{s.HomeDir}, elem...)...)
	}

	// Go: the module cache, and the standard library when its place is set.
	if cache := s.getenv("GOMODCACHE"); cache != "" {
		add(cache)
	} else if paths := filepath.SplitList(s.getenv("GOPATH")); len(paths) > 0 {
		add(paths[0], "pkg", "mod")
	} else {
		add(home("go"), "pkg", "mod")
	}
	add(s.getenv("GOROOT"), "src")

	// Rust: sources of crates. CARGO_HOME itself holds credentials.toml.
	cargo := s.getenv("CARGO_HOME")
	if cargo == "" {
		cargo = home(".cargo")
	}
	add(cargo, "registry", "src")
	add(cargo, "git", "checkouts")

	// Java: artifacts. The directory above holds settings.xml.
	add(home(".m2", "repository"))
	return dirs
}

// holdsHome reports whether a directory is the home or above it: a variable opens neither.
func (s Sources) holdsHome(dir string) bool {
	return pathname.Contains(dir, s.HomeDir)
}
