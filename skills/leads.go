package skills

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// maxLinks bounds how many links in a row are followed to what is not there yet.
const maxLinks = 40

// Leads are absolute paths of a user's own, and where they and the links that lie directly in
// them lead: people keep such files in a repository, with links to it, and a name there
// is as good as the one that a link stands under (P3). What is not there yet is named
// where it would come to be.
func Leads(paths ...string) []string {
	var all []string
	add := func(path string) {
		for _, p := range []string{path, real(path, maxLinks)} {
			if p != "" && !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			continue // what is not known, such as an empty home
		}
		add(path)
		for _, link := range links(path) {
			add(link)
		}
	}
	return all
}

// real is a path without links, also when nothing is there; "" after too many links.
func real(path string, most int) string {
	found, err := filepath.EvalSymlinks(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) || most == 0 {
		return found
	}
	if target, err := os.Readlink(path); err == nil {
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		return real(target, most-1)
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	if dir = real(dir, most); dir == "" {
		return ""
	}
	return filepath.Join(dir, filepath.Base(path))
}

// links are the links that lie directly in a directory.
func links(dir string) []string {
	opened, err := opener{}.open(dir, "")
	if err != nil {
		return nil
	}
	defer opened.Close()
	if !opened.info.IsDir() {
		return nil
	}
	entries, _ := opened.ReadDir(maxEntries) // the readable ones
	var names []string
	for _, e := range entries {
		if e.Type()&os.ModeSymlink != 0 {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names
}
