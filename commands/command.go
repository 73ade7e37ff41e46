package commands

import (
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Command is a slash command whose prompt is the text of a Markdown file.
type Command struct {
	// Name is what the user types after the slash. It has no blanks.
	Name string
	// Description and Hint are one line each, and never empty.
	Description, Hint string
	// File is the absolute path of the file.
	File string
	// Project says that the file belongs to the project, and not to the user.
	Project bool
	// Ignored are the fields of the file that have an effect in other agents but not here, such as
	// allowed-tools.
	Ignored []string
	// Shell says that the text has commands that other agents run before the model reads it.
	// They are not run here.
	Shell bool

	body   string
	layout layout
	names  []string // of the arguments, in their order
	text   string   // the whole file
	hidden bool     // the file says that it is no command of a user
}

// layout is a program's convention for the names, fields and placeholders of command files.
type layout int

const (
	ownLayout layout = iota
	claudeLayout
	opencodeLayout
)

// place is a directory with command files.
type place struct {
	dir    string
	layout layout
}

// projectPlaces are the directories of a project, the first to read first.
var projectPlaces = []place{
	{".agents/commands", ownLayout},
	{".claude/commands", claudeLayout},
	{".opencode/commands", opencodeLayout},
	{".opencode/command", opencodeLayout},
}

// userPlaces are the directories of the user's own commands, the first to read first.
func userPlaces(home, configHome string) []place {
	var places []place
	if configHome != "" {
		places = append(places, place{filepath.Join(configHome, "acp-agent", "commands"), ownLayout})
	}
	if home != "" {
		places = append(places,
			place{filepath.Join(home, ".agents", "commands"), ownLayout}, place{filepath.Join(home, ".claude", "commands"), claudeLayout})
	}
	if configHome != "" {
		places = append(places,
			place{filepath.Join(configHome, "opencode", "commands"), opencodeLayout}, place{filepath.Join(configHome, "opencode", "command"), opencodeLayout})
	}
	return places
}

// UserDirs lists the directories of the user's own commands. No tool may write there, because a text in
// them counts as the user's.
func UserDirs(home, configHome string) []string {
	var dirs []string
	for _, p := range userPlaces(home, configHome) {
		dirs = append(dirs, p.dir)
	}
	return dirs
}

// name is the name of the command in a file, whose path below its place has slashes. In Claude Code's
// layout the name does not include the folder.
func (l layout) name(file string) string {
	name := strings.TrimSuffix(file, path.Ext(file))
	if l == claudeLayout {
		name = path.Base(name)
	}
	return name
}

// maxName bounds the name of a command, in bytes.
const maxName = 100

// typeable reports whether a name can be typed as one word, and cannot be the name of a prompt of an MCP
// server.
func typeable(name string) bool {
	good := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.:/@+", r)
	}
	return name != "" && len(name) <= maxName && utf8.ValidString(name) && strings.TrimFunc(name, good) == "" &&
		strings.IndexFunc(name, func(r rune) bool { return !good(r) }) < 0 && !strings.HasPrefix(name, "mcp:")
}
