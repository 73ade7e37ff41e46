package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/pathname"
)

// programFiles is what is shown of the home for a program that the agent starts by its
// path, or a file that is an argument of one: the directory that holds it, or the file
// alone where that directory may not be shown.
func (g homeGate) programFiles(path string) []string {
	if !filepath.IsAbs(path) || missing(path) || !g.opens(path) {
		return nil
	}
	paths := []string{path}
	// What holds the files of many programs is not shown for one of them.
	whole := func(dir string) bool { return g.opens(dir) && !slices.Contains(hidden[:], resolved(dir)) }
	if info, err := os.Stat(path); err == nil && !info.IsDir() && whole(filepath.Dir(path)) {
		paths = append(paths, filepath.Dir(path))
	}
	if real := resolved(path); real != "" && real != path && whole(filepath.Dir(real)) {
		paths = append(paths, filepath.Dir(real)) // where a link leads
	}
	return paths
}

// imageMounts are what the names of directories start with in which an AppImage mounts itself, or
// is unpacked: its programs load what lies elsewhere in it.
var imageMounts = [...]string{".mount_", "appimage_extracted_"}

// privateDirs are the directories of which a command sees its own, and where programs of
// the user may lie all the same.
var privateDirs = [...]string{"/tmp", "/var/tmp"}

// namedFiles are what is shown of the machine's directories for temporary files to a
// program that the editor or the user names: what its words name there, the directory
// that a file lies in, and of an AppImage all of it. The directories for temporary files
// as a whole, and the sockets in them, are not shown for a word, nor is what holds the
// agent's own files, which Landlock could not keep closed in it; what it names in the home,
// should that lie there, goes by the rules of the home.
func (b *Box) namedFiles(g homeGate, r Request) []string {
	if !r.Named {
		return nil
	}
	var paths []string
	for _, word := range wordsOf(slices.Concat(r.Programs, r.Arguments)) {
		own := slices.ContainsFunc(slices.Concat(r.Roots, r.Writable), func(dir string) bool { return ContainsReal(dir, word) })
		if own || !b.isNamed(word) {
			continue
		}
		for _, path := range ownDir(word) {
			if b.isNamed(path) && g.opens(path) && (g.real == "" || !pathname.Contains(g.real, resolved(path))) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// isNamed reports whether a path is a file or directory in a directory for temporary
// files, and neither a socket nor one that holds, or lies in, sockets that are known or the
// agent's own files.
func (b *Box) isNamed(word string) bool {
	real := resolved(word)
	inside := func(dir string) bool { return real != dir && pathname.Contains(dir, real) }
	if real == "" || !slices.ContainsFunc(privateDirs[:], inside) {
		return false
	}
	holds := func(dir string) bool { return pathname.Contains(dir, real) || pathname.Contains(real, dir) }
	if slices.ContainsFunc(slices.Concat(socketDirs[:], sockets(b.Environ), b.Own), holds) {
		return false
	}
	info, err := os.Stat(real)
	return err == nil && (info.IsDir() || info.Mode().IsRegular())
}

// ownDir is a path in a directory for temporary files with the directory that belongs to
// it: the AppImage that it lies in, else that of the file.
func ownDir(path string) []string {
	real := resolved(path)
	for dir := real; len(dir) > 1; dir = filepath.Dir(dir) {
		if slices.ContainsFunc(imageMounts[:], func(start string) bool { return strings.HasPrefix(filepath.Base(dir), start) }) {
			return []string{path, dir}
		}
	}
	if dir := filepath.Dir(real); !slices.Contains(privateDirs[:], dir) && !slices.Contains(privateDirs[:], filepath.Dir(path)) {
		if info, err := os.Stat(real); err == nil && !info.IsDir() {
			return []string{path, dir}
		}
	}
	return []string{path}
}

// wordsOf are the absolute paths in a command line: whole words of it, and what stands in
// them, as in --root=/path, file:///path and the text of sh -c.
func wordsOf(args []string) []string {
	var words []string
	for _, arg := range args {
		parts := strings.FieldsFunc(arg, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`;&|=<>(){},:", r) })
		for _, word := range append(parts, arg) {
			if word = filepath.Clean(word); filepath.IsAbs(word) && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return words
}
