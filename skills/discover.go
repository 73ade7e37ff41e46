package skills

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"acp-agent/kinds"
)

const (
	// fileName is the file that makes a folder a skill.
	fileName = "SKILL.md"
	// maxEntries bounds how much of one directory is looked at.
	maxEntries = 1000
	// discoverTimeout bounds the search: a session waits for it, for its index
	// must not change later.
	discoverTimeout = 3 * time.Second
)

// Discover finds the skills of a session, once (R85): of the project, nearest
// directory first, of the user, of the host, and the configured ones.
// Of two with one name the first wins. What cannot be used is a warning, never
// an error. Only the front matter of files is read. After 3 s it ends with what it
// has, unless a single file takes longer.
func Discover(ctx context.Context, o Options) (*Library, []Warning) {
	ctx, cancel := context.WithTimeout(ctx, discoverTimeout)
	defer cancel()
	s := &scan{opener: opener{o.Secret}, lib: &Library{byName: map[string]*skill{}}}
	fetched := o.startFetch(ctx)
	for _, p := range o.skillPlaces() {
		s.directory(ctx, p)
	}
	s.bundled(ctx, o.Bundled)
	for _, configured := range o.Paths {
		s.configured(ctx, o, configured)
	}
	for _, f := range fetched() {
		s.fetched(f)
	}
	if s.late {
		s.warn.add("skills", "the search for them was cut short: %v", ctx.Err())
	}
	return s.lib, s.warn
}

// skillPlaces are the directories that hold folders of skills.
func (o Options) skillPlaces() []place {
	var places []place
	project := projectOf(o.Cwd)
	for _, p := range append(project.places(), project.further(o.Roots)...) {
		if o.Home != "" && p.dir == filepath.Clean(o.Home) {
			continue // the user's own, below
		}
		for _, agent := range []string{".agents", ".claude"} {
			places = append(places, place{dir: filepath.Join(p.dir, agent, "skills"), base: p.base})
		}
	}
	if o.Home != "" {
		places = append(places,
			place{dir: filepath.Join(o.Home, ".agents", "skills")}, place{dir: filepath.Join(o.Home, ".claude", "skills")})
	}
	if o.ConfigHome != "" {
		places = append(places, place{dir: filepath.Join(o.ConfigHome, "acp-agent", "skills")})
	}
	return places
}

// scan is a search for skills under way.
type scan struct {
	opener
	lib  *Library
	warn warnings
	// full says that no more skills are taken, late that time was up before all
	// places had been looked at.
	full, late bool
}

// done reports whether to look no further.
func (s *scan) done(ctx context.Context) bool {
	if ctx.Err() != nil {
		s.late = true
	}
	return s.late || s.full
}

// directory adds the skills in the folders of a directory.
func (s *scan) directory(ctx context.Context, p place) {
	dir, err := s.open(p.dir, p.base)
	if err != nil {
		if p.named || !errors.Is(err, fs.ErrNotExist) {
			s.warn.add(p.dir, "%v", err)
		}
		return
	}
	defer dir.Close()
	if !dir.info.IsDir() {
		s.warn.add(p.dir, "is no directory")
		return
	}
	entries, err := dir.ReadDir(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		s.warn.add(p.dir, "%v", cause(err))
	}
	if len(entries) == maxEntries {
		s.warn.add(p.dir, "holds too much: only %d entries were looked at", maxEntries)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if s.done(ctx) {
			return
		}
		if e.IsDir() || e.Type()&os.ModeSymlink != 0 {
			s.folder(filepath.Join(p.dir, e.Name()), p.base)
		}
	}
}

// folder adds the skill of one folder, if it is one, and reports whether it is.
func (s *scan) folder(dir, base string) bool {
	name := filepath.Join(dir, fileName)
	file, err := s.openRegular(name, base)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.warn.add(name, "%v", err)
			return true
		}
		return false
	}
	defer file.Close()
	head, err := file.head(maxFrontMatter)
	if err != nil {
		s.warn.add(name, "%v", err)
		return true
	}
	opener := s.opener
	s.add(head, filepath.Base(dir), &skill{origin: name, real: file.real, dir: dir, read: func() ([]byte, error) {
		file, err := opener.openRegular(name, base)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return file.head(maxBody + 1)
	}})
	return true
}

// configured adds what one of the user's paths leads to.
func (s *scan) configured(ctx context.Context, o Options, path string) {
	dir := o.expand(path)
	if dir == "" {
		s.warn.add(path, "is no absolute path")
		return
	}
	if !s.done(ctx) && !s.folder(dir, "") {
		s.directory(ctx, place{dir: dir, named: true})
	}
}

// add puts a skill into the library, of whose file head is the beginning.
func (s *scan) add(head []byte, folder string, found *skill) {
	m, err := parseFrontMatter(head)
	if err != nil {
		s.warn.add(found.origin, "%v", err)
		return
	}
	name, note, err := m.identify(folder)
	if err != nil {
		s.warn.add(found.origin, "%v", err)
		return
	}
	if first := s.lib.byName[name]; first != nil {
		if first.real != found.real { // not merely another way to the same file
			s.warn.add(found.origin, "is not used: the skill %s is that of %s", name, first.origin)
		}
		return
	}
	if len(s.lib.skills) == maxSkills {
		if !s.full {
			s.warn.add(found.origin, "this and further skills are not used: there are %d already", maxSkills)
		}
		s.full = true
		return
	}
	if note != "" {
		s.warn.add(found.origin, "%s", note)
	}
	found.Entry = Entry{name, kinds.Line(m.description, maxDescription)}
	s.lib.skills = append(s.lib.skills, found)
	s.lib.byName[name] = found
}
