package app

import (
	"path/filepath"
	"slices"

	"github.com/adrg/xdg"

	"acp-agent/commands"
	"acp-agent/skills"
	"acp-agent/subagent"
)

// dataHome is the data directory of the user's own agent.
func dataHome() string { return filepath.Join(xdg.DataHome, "acp-agent") }

// conversationsDir is where the conversations are in a data directory.
func conversationsDir(dataDir string) string { return filepath.Join(dataDir, "conversations") }

// ownPaths are the agent's own directories and files, which no tool may write: configuration,
// data, state.
func (c *core) ownPaths() []string {
	return skills.Leads(append(stateHomes(),
		// A file that the environment names may lie beside anything.
		filepath.Join(xdg.ConfigHome, "acp-agent"), c.sources.UserFile(), c.dataDir, c.stateDir,
	)...)
}

// guarded are further directories that no tool may write: the agent runs programs from them, or
// takes from them what an agent may do.
func (c *core) guarded(set *toolset) []string {
	return slices.Concat(set.guarded, c.agentDirs())
}

// agentDirs are those of the user's own agents and commands, and the files elsewhere that links
// in them lead to.
func (c *core) agentDirs() []string {
	home, config := c.sources.HomeDir, xdg.ConfigHome
	return skills.Leads(slices.Concat(subagent.UserDirs(home, config), commands.UserDirs(home, config))...)
}
