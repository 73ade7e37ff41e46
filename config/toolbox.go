package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"acp-agent/internal/redact"
)

// EnvToolbox lists directories of another agent's toolbox, which is written the same
// way; they are looked into beside the usual one.
const EnvToolbox = "AMP_TOOLBOX"

// Toolbox is the user's directories of scripts that are tools (R93).
type Toolbox struct {
	// Dirs are absolute. nil means the usual ones, see Sources.Toolboxes; an empty list
	// means none.
	Dirs []string `json:"dirs"`
	// Env are variables that scripts have beside the short list of every program.
	Env Environment `json:"env"`
	// Network lets scripts reach the network.
	Network bool `json:"network"`
}

// Environment is variables that the user gives to programs, by name. A value may be
// "${NAME}": that of a variable of the agent's own environment.
type Environment map[string]Secret

// List is the environment as NAME=value entries, sorted by name.
func (e Environment) List() []string {
	var list []string
	for _, name := range sortedKeys(e) {
		list = append(list, name+"="+e[name].Reveal())
	}
	return list
}

// keys are the values whose names say that they are secret.
func (e Environment) keys() []string {
	var keys []string
	for _, name := range sortedKeys(e) {
		if redact.NamesKey(name) && !e[name].IsZero() {
			keys = append(keys, e[name].Reveal())
		}
	}
	return keys
}

// expand returns the environment with the values that others stand for. One that is not
// set is left out.
func (s Sources) expand(from Environment) Environment {
	if from == nil {
		return nil
	}
	expanded := Environment{}
	for name, value := range from {
		text, refers := strings.CutPrefix(value.Reveal(), "${")
		text, closed := strings.CutSuffix(text, "}")
		if !refers || !closed {
			expanded[name] = value
		} else if text = s.getenv(text); text != "" {
			expanded[name] = NewSecret(text)
		}
	}
	return expanded
}

func (f *file) checkEnvironment(field string, env Environment) error {
	for _, name := range sortedKeys(env) {
		if name == "" || strings.ContainsAny(name, "=\x00 ") || strings.Contains(env[name].Reveal(), "\x00") {
			return f.errorf(field+"."+name, "is no variable that a program can have")
		}
	}
	return nil
}

// Toolboxes are the directories of scripts that are looked into when toolbox.dirs is not
// set: "toolbox" beside the user's usual file, and those of EnvToolbox. They need not
// exist.
func (s Sources) Toolboxes() []string {
	var dirs []string
	if s.ConfigDir != "" {
		dirs = append(dirs, filepath.Join(s.ConfigDir, "acp-agent", "toolbox"))
	}
	for _, dir := range filepath.SplitList(s.getenv(EnvToolbox)) {
		if filepath.IsAbs(dir) {
			dirs = appendNew(dirs, filepath.Clean(dir))
		}
	}
	return dirs
}

// toolboxPaths are the paths of the toolbox's settings, by field.
func (cfg *Config) toolboxPaths() map[string]*string {
	paths := map[string]*string{}
	for i := range cfg.Toolbox.Dirs {
		paths[fmt.Sprintf("toolbox.dirs[%d]", i)] = &cfg.Toolbox.Dirs[i]
	}
	return paths
}
