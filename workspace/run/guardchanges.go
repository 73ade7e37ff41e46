package run

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/pathname"
)

// restore puts back what a command changed, and says so in one line for each file.
func (g *guard) restore() []string {
	var notes []string
	written, seen := g.runner.w.Journal.Written(g.mark), g.runner.search(searchQuery{names: g.names, first: g.walks()})
	for i := range g.roots {
		at := &g.roots[i]
		at.tools = written
		for _, repo := range at.repos {
			notes = append(notes, g.restoreRepo(at, repo)...)
		}
		for _, name := range at.included {
			notes = append(notes, g.restoreConfig(at, name)...)
		}
		var found rootResult
		if i < len(seen.roots) {
			found = seen.roots[i]
		}
		now := at.madeSince(found, g.names)
		for _, repo := range now.repos {
			if !slices.Contains(at.repos, repo) {
				notes = append(notes, g.disarmMade(at, repo)...)
			}
		}
		for _, dir := range appendNew(at.dirs, now.names) {
			notes = append(notes, g.restoreDir(at, dir)...)
		}
	}
	notes = slices.DeleteFunc(notes, func(note string) bool { return note == "" })
	if !seen.whole {
		notes = append(notes, notWhole+lookAtIt)
	}
	return boundedNotes(notes)
}

// boundedNotes returns at most maxGuardNotes of the notes, and how many there are more. It keeps the
// last ones, since a command can put names of no use before the rest, and prefers the notes that
// the user has to look at.
func boundedNotes(notes []string) []string {
	more := len(notes) - maxGuardNotes
	if more <= 0 {
		return notes
	}
	slices.SortStableFunc(notes, func(a, b string) int {
		return strings.Count(a, lookAtIt) - strings.Count(b, lookAtIt)
	})
	return append([]string{fmt.Sprintf("%d more files were put back or moved aside.", more)}, notes[more:]...)
}

// restoreRepo puts back what a command changed in a repository that was there before.
func (g *guard) restoreRepo(at *guardedRoot, repo string) []string {
	at.reach(repo)
	_, err := at.root.Handle.Lstat(filepath.FromSlash(repo))
	switch {
	case err != nil:
		return nil // it is gone, or never was there
	case at.pointers[repo]:
		return g.restorePointer(at, repo)
	case g.names && isPointer(at.root, repo):
		return []string{g.restoreFile(at, repo, kept{}, false, "a command may not lead git elsewhere")}
	case isLink(at.root, repo):
		return []string{at.abs(repo) + " was replaced by a link." + lookAtIt}
	}
	return g.restoreSettings(at, repo)
}

// restoreSettings puts back the configuration and the hooks of a repository, and moves aside links
// that lead git's own writing elsewhere.
func (g *guard) restoreSettings(at *guardedRoot, repo string) (notes []string) {
	for _, name := range g.settings() {
		notes = append(notes, g.restoreConfig(at, path.Join(repo, name))...)
	}
	for _, name := range wholeNames {
		notes = append(notes, g.restoreDir(at, path.Join(repo, name))...)
	}
	if !g.names {
		return notes
	}
	for _, name := range linksIn(at.root, repo) {
		if !slices.Contains(at.links, name) {
			notes = append(notes, g.restoreFile(at, name, kept{}, false, "a command may not lead elsewhere what git writes"))
		}
	}
	return notes
}

// walks are what the search before the command found in each root.
func (g *guard) walks() []rootResult {
	walks := make([]rootResult, len(g.roots))
	for i := range g.roots {
		walks[i] = g.roots[i].walk
	}
	return walks
}

// restorePointer puts back the link or the file that says where a repository is. A
// directory in its place may hold anything, and stays.
func (g *guard) restorePointer(at *guardedRoot, repo string) []string {
	after, err := lookAt(at.root, repo)
	switch before := at.files[repo]; {
	case err != nil || before.unread || after.same(before):
		return nil
	case after.mode.IsDir():
		return []string{at.abs(repo) +
			" was replaced by a directory." + lookAtIt}
	default:
		return []string{g.restoreFile(at, repo, before, true, "a command may not lead git elsewhere")}
	}
}

// disarmMade takes from a repository that a command made what can make git run a
// program.
func (g *guard) disarmMade(at *guardedRoot, repo string) []string {
	if isPointer(at.root, repo) {
		return []string{g.restoreFile(at, repo, kept{}, false, "a command may not lead git elsewhere")}
	}
	return g.restoreSettings(at, repo)
}

func appendNew(list, more []string) []string {
	list = slices.Clip(list)
	for _, name := range more {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// restoreConfig puts a repository's configuration back when other programs would be
// run by it than before. Other changes stay.
func (g *guard) restoreConfig(at *guardedRoot, name string) []string {
	before, had := at.files[name]
	after, err := lookAt(at.root, name)
	if errors.Is(err, fs.ErrNotExist) && had && !at.deletedByTool(name) && isRepository(at.root, path.Dir(name)) {
		return []string{g.restoreFile(at, name, before, true, "a command may not delete it")}
	}
	if errors.Is(err, fs.ErrNotExist) || before.unread || err == nil && (had && after.same(before) || at.writtenByTool(name, after)) {
		return nil // gone, and the repository with it; or as it was
	}
	plain := err == nil && after.mode.IsRegular() && !after.opaque
	changed := difference(g.programsIn(name, before.text), g.programsIn(name, after.text))
	if plain && len(changed) == 0 {
		return nil
	}
	what := "it was replaced by something that is no such file"
	if plain {
		what = "the command changed " + strings.Join(changed, ", ") + ", which can make git run a program"
	}
	return []string{g.restoreFile(at, name, before, had, what)}
}

// difference lists the keys of the settings, "key=value", that are not in both.
func difference(before, after []string) []string {
	var keys []string
	add := func(from, other []string) {
		for _, setting := range from {
			key, _, _ := strings.Cut(setting, "=")
			if !slices.Contains(other, setting) && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	add(after, before)
	add(before, after)
	return keys
}

// restoreDir puts every file of a directory back as it was.
func (g *guard) restoreDir(at *guardedRoot, dir string) []string {
	var notes []string
	at.reach(dir)
	now, whole := []string{dir}, true // of a link: what it leads to is not of this directory
	if !isLink(at.root, dir) {
		now, whole = filesIn(at.root, dir, maxGuardedNames, !at.partly[dir])
	}
	if g.replacesAll(at, dir, now, whole) {
		notes = append(notes, g.restoreFile(at, dir, kept{}, false, "a command may not change it"))
		now, whole = nil, true
	}
	unknown := false
	for _, name := range now {
		before, had := at.files[name]
		after, err := at.look(name)
		switch {
		case before.unread, err == nil && (had && after.same(before) || at.writtenByTool(name, after)):
		case !had && at.partly[dir] && name != dir:
			unknown = true // it may have been there before
		default:
			notes = append(notes, g.restoreFile(at, name, before, had, "a command may not change it"))
		}
	}
	missing := g.restoreMissing(at, dir, now, whole)
	if unknown && len(notes)+len(missing) > 0 {
		notes = append(notes, at.abs(dir)+" was changed, and cannot be put back as a whole."+lookAtIt)
	}
	return append(notes, missing...)
}

// replacesAll reports whether a directory is moved aside as one: there are more files in it
// than can be looked at, or it is new and holds many. Not where a tool of the session wrote
// there, nor where it is not known what there was.
func (g *guard) replacesAll(at *guardedRoot, dir string, now []string, whole bool) bool {
	if isPointer(at.root, dir) || at.partly[dir] || whole && (at.there[dir] || len(now) <= maxGuardNotes) {
		return false
	}
	for file := range at.tools {
		if file != at.abs(dir) && pathname.Contains(at.abs(dir), file) {
			return false
		}
	}
	return true
}

// restoreMissing puts back the files of a directory that are not there now.
func (g *guard) restoreMissing(at *guardedRoot, dir string, now []string, whole bool) (notes []string) {
	if !whole {
		return nil // what is missing may only not have been looked at
	}
	for name, before := range at.files {
		if pathname.Contains(dir, name) && !slices.Contains(now, name) && !before.unread && !at.deletedByTool(name) {
			notes = append(notes, g.restoreFile(at, name, before, true, "a command may not delete it"))
		}
	}
	return notes
}
