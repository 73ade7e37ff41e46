package projects

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"acp-agent/internal/pathname"
	"acp-agent/internal/rootfile"
)

// Limits of what trust is bound to.
const (
	maxFiles = 500
	maxFile  = 4 << 20  // bytes of one file
	maxTotal = 16 << 20 // bytes of all
	maxDepth = 16       // directories within directories
	// maxText and maxTexts bound the texts that are kept to show a difference.
	maxText, maxTexts = 64 << 10, 512 << 10
)

// ownDir is the directory of a project's settings for the agent. All of it counts.
const ownDir = ".acp-agent"

// configs are files at the top of a project that formatters, language servers and
// questions for a version read, and that make some of them run programs of the
// project. What commands run, such as Makefile and package.json, is not among them: commands are judged
// each time.
var configs = []string{
	".cargo/config", ".cargo/config.toml", ".clang-format", ".clangd", ".eslintrc*", ".prettierrc*", ".pylintrc",
	".rustfmt.toml", ".yarnrc", ".yarnrc.yml", "biome.json*", "build.rs", "dprint.json*", "eslint.config.*", "global.json",
	"jsconfig.json", "prettier.config.*", "pyrightconfig.json", "rust-toolchain", "rust-toolchain.toml", "rustfmt.toml",
	"tsconfig.json",
}

// agentDirs hold the agents of a project, in the order in which they are looked at.
// All beneath them counts.
var agentDirs = []string{".agents/agents", ".claude/agents"}

// commandDirs hold the slash commands of a project. All beneath them counts.
var commandDirs = []string{".agents/commands", ".claude/commands", ".opencode/commands", ".opencode/command"}

// textDirs are the directories of texts that agents obey.
func textDirs() []string { return slices.Concat(agentDirs, commandDirs) }

// above leads to the directory above.
const above = "../"

// mayHoldToken reports a file that is bound by its hash alone.
func mayHoldToken(name string) bool {
	return strings.HasPrefix(strings.ToLower(path.Base(name)), ".yarnrc")
}

// Snapshot is the executable configuration of a project at one moment.
type Snapshot struct {
	// Hash is a hash of the names and contents; it is there for a project without
	// any such file too.
	Hash string
	// Config is the hash of the configuration alone, without what it runs; see With.
	Config string
	Files  []File // by name
}

// File is one file of a Snapshot.
type File struct {
	// Name is the path from the top of the project, with slashes. Agents and commands of
	// the directories above it have names that begin with "../".
	Name string `json:"name"`
	Hash string `json:"hash"`
	// Text is the content, "" when it is too long to be kept, is not text, or may hold
	// a token.
	Text string `json:"text,omitempty"`
}

// Concerns reports whether a path, from the top of the project and with slashes,
// may be part of its Snapshot. Case does not count: there are file systems that do
// not know it, on which a program finds the file under the name that it looks for.
func Concerns(name string) bool {
	name = strings.ToLower(name)
	return concernsTexts(name) || pathname.Contains(ownDir, name) || name == ".cargo" ||
		slices.ContainsFunc(configs, func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok })
}

// Scan reads the executable configuration of a project. Links are followed
// inside the project; a configuration that leads out of it, or is too large to be
// bound, is an error, and such a project cannot be trusted.
func Scan(project string) (Snapshot, error) {
	root, err := os.OpenRoot(project)
	if err != nil {
		return Snapshot{}, err
	}
	defer root.Close()
	s := scanner{root: root}
	if err := s.tree(ownDir, 0); err != nil {
		return Snapshot{}, err
	}
	if err := s.textDirs(project); err != nil {
		return Snapshot{}, err
	}
	for _, dir := range []string{".", ".cargo"} {
		if err := s.listed(dir); err != nil {
			return Snapshot{}, err
		}
	}
	return snapshotOf(s.files), nil
}

type scanner struct {
	root  *os.Root
	under string // what the names of files begin with
	files []File
	total int
	texts int
}

// tree adds all that lies beneath a directory.
func (s *scanner) tree(dir string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%s lies more than %d directories deep", dir, maxDepth)
	}
	names, err := s.names(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := s.add(path.Join(dir, name), depth); err != nil {
			return err
		}
	}
	return nil
}

// listed adds the files of a directory that are on the list.
func (s *scanner) listed(dir string) error {
	names, err := s.names(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		name = path.Join(dir, name)
		if whole := strings.ToLower(name); whole == ownDir || whole == ".cargo" || !Concerns(name) {
			continue
		}
		if err := s.add(name, maxDepth); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) names(dir string) ([]string, error) {
	f, err := s.root.OpenFile(dir, os.O_RDONLY|rootfile.Nonblock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, bound(s.under+dir, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.IsDir() {
		if dir == ownDir {
			return nil, fmt.Errorf("%s is not a directory", dir)
		}
		return nil, nil
	}
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return names, nil
}

// add adds one file, or all beneath a directory.
func (s *scanner) add(name string, depth int) error {
	f, err := s.root.OpenFile(name, os.O_RDONLY|rootfile.Nonblock, 0)
	if err != nil {
		return bound(s.under+name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case info.IsDir():
		if depth == maxDepth {
			return nil // of the list: a directory configures nothing
		}
		return s.tree(name, depth+1)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", s.under+name)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return err
	}
	if s.total += len(data); len(data) > maxFile || s.total > maxTotal || len(s.files) >= maxFiles {
		return fmt.Errorf("the project's configuration is too large to be trusted as a whole, at %s: at most %d files, %d MiB each and %d MiB in all",
			name, maxFiles, maxFile>>20, maxTotal>>20)
	}
	file := File{Name: s.under + name, Hash: hashOf(data)}
	if text := string(data); !mayHoldToken(name) && len(text) <= maxText && s.texts+len(text) <= maxTexts && utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
		file.Text = text
		s.texts += len(text)
	}
	s.files = append(s.files, file)
	return nil
}

// bound says why a file cannot be bound.
func bound(name string, err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return fmt.Errorf("%s cannot be read inside the project: %w", name, err)
}
