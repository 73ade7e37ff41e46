package permissions

import "sync"

// protectedGroup is a set of names through which one kind of program runs code, or
// takes instructions, that nothing else in the project shows.
type protectedGroup struct {
	// why follows the name in the reason of a question.
	why string
	// asked are names that ordinary work on a project changes now and then: a command
	// that writes one is asked about. denied are those of which DN9 denies it to
	// commands: they act by themselves with the next shell, commit or start of a program,
	// and a file tool, whose question shows the text, can write them as well.
	asked, denied []string
}

// protectedGroups are the names whose writing is asked about each time (P5): what a program
// runs or obeys because it lies there, without being told to. A pattern counts for
// whatever lies beneath, see namePattern. Ordinary build files (Makefile, package.json,
// go.mod) are not among them: they run when a build is started, which is itself judged,
// and a project cannot be worked on without changing them.
func protectedGroups() []protectedGroup {
	return []protectedGroup{
		{
			// An agent that opens the project obeys its instructions, runs its hooks and starts
			// the servers that its configuration names, often without a question.
			why: "can make agents run code",
			asked: []string{
				"agents.md", "agents.override.md", "agent.md", "claude.md", "claude.local.md", "gemini.md", "qwen.md", "crush.md", "warp.md",
				".rules", ".cursorrules", ".windsurfrules", ".clinerules", ".roorules", ".roorules-*", ".roomodes", ".kilocodemodes", ".goosehints",
				"copilot-instructions.md", "*.instructions.md", "*.prompt.md", "*.chatmode.md",
				".github/instructions", ".github/prompts", ".github/agents", ".github/chatmodes", ".github/hooks", ".github/skills",
				".agents", ".agent", ".claude", ".claude-plugin", ".codex", ".gemini", ".qwen", ".kiro", ".amazonq", ".windsurf", ".codeium",
				".opencode", "opencode.json", "opencode.jsonc", ".crush", "crush.json", ".crush.json", ".roo", ".kilo", ".kilocode", "kilo.json",
				"kilo.jsonc", ".cline", ".continue", ".continuerc.json", ".aider*", ".augment", ".augment-guidelines", ".junie", ".goose", ".amp",
				".factory", ".trae", ".tabnine", ".openhands", ".copilot", ".firebender", "mcp.json",
			},
			denied: []string{".mcp.json", ".cursor"},
		},
		{
			// An editor runs tasks, language servers, extensions and start-up files of the
			// project that it opens; a container for development runs what its file says.
			why: "can make an editor run code",
			asked: []string{
				".vs", ".fleet", ".helix", ".nova", ".theia", ".kakrc", ".lapce", ".devcontainer", ".devcontainer.json", ".gitpod.yml",
				".gitpod.dockerfile", ".gitpod", "devfile.yaml", ".devfile.yaml", ".idx", ".replit", ".codesandbox",
				"*.sublime-project", "*.sublime-workspace", "*.sublime-build", ".nvim.lua", ".nvimrc", ".exrc", "_exrc", ".vimrc", "_vimrc", ".gvimrc",
				".lvimrc", ".local.vimrc", ".vimspector.json", ".lazy.lua", ".neoconf.json", ".dir-locals.el", ".dir-locals-2.el", ".emacs", ".emacs.d",
			},
			denied: []string{".vscode", ".zed", ".idea", "*.code-workspace"},
		},
		{
			// A shell reads its start-up files, and a manager of environments runs or applies
			// what it finds when a directory is entered.
			why: "can make a shell run code",
			asked: []string{
				"mise.toml", "mise.*.toml", ".mise.toml", ".mise.*.toml", ".mise", ".config/mise", ".config/mise.toml", ".rtx.toml", ".tool-versions",
				".envrc.*", ".direnv", ".direnvrc", ".autoenv", ".autoenv.zsh", ".shadowenv.d", ".flox", "devenv.nix", "devenv.yaml",
				"devenv.local.nix", "devbox.json", ".tmux.conf", ".tmuxinator.yml", ".tmuxp.yaml", ".tmuxp.yml", ".screenrc", ".rvmrc",
			},
			denied: []string{
				".envrc", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile",
				".zlogin", ".zlogout", ".cshrc", ".tcshrc", ".login", ".logout", ".kshrc", ".mkshrc", ".inputrc", ".xprofile", ".xsession", ".xinitrc",
				".config/fish",
			},
		},
		{
			// git and the managers of its hooks run programs with the next commit, checkout or
			// status.
			why: "can make git run code",
			asked: []string{
				".pre-commit-config.yaml", ".pre-commit-config.yml", ".pre-commit-hooks.yaml", "lefthook.*", ".lefthook.*", "lefthook-local.*",
				".lefthook-local.*", ".lefthook", ".lefthook-local", ".config/lefthook.*", ".huskyrc", ".huskyrc.*", "husky.config.js",
				".overcommit.yml", ".git-hooks", ".githooks", "captainhook.json", "simple-git-hooks.*", ".simple-git-hooks.*", ".lintstagedrc",
				".lintstagedrc.*", "lint-staged.config.*",
				// The hooks that git runs on a user's machine, by the only names that it knows them
				// by: core.hooksPath may have them in any directory.
				"pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-rebase", "post-rewrite", "post-checkout",
				"post-merge", "pre-push", "pre-auto-gc", "reference-transaction", "post-index-change", "applypatch-msg", "pre-applypatch",
				"post-applypatch", "sendemail-validate", "fsmonitor-watchman",
			},
			denied: []string{".git", "git~1", ".gitmodules", ".gitconfig", ".config/git", "git/hooks", ".husky"},
		},
		{
			// Other systems of version control keep hooks and names of programs in a file of the
			// working tree that belongs to one repository.
			why:   "can make version control run code",
			asked: []string{".hg/hgrc", ".hg/hgrc-not-shared", ".sl/config", ".jj/repo/config.toml"},
		},
		{
			// A package manager or an interpreter takes addresses, plugins and programs from its
			// configuration with whatever it is asked for, also where that only reads.
			why: "can make a package manager or an interpreter run code",
			asked: []string{
				".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/plugins", ".yarn/releases", ".pnpmfile.cjs", ".pnpmfile.mjs", "bunfig.toml", ".bunfig.toml", ".cargo/config",
				".cargo/config.toml", "rust-toolchain", "rust-toolchain.toml", "pip.conf", "pip.ini", ".pypirc", ".condarc", ".bundle/config", ".gemrc", ".mvn",
				"gradle/wrapper", "nuget.config", ".config/dotnet-tools.json", ".bazelrc", ".buckconfig", "sitecustomize.py", "usercustomize.py",
				".pdbrc", ".irbrc", ".pryrc", ".ghci", ".rprofile", ".gdbinit", ".lldbinit", ".psqlrc", ".sqliterc", ".curlrc", ".wgetrc",
			},
		},
		{
			// What CI runs has the keys of the project's deployment, and runs with a push that
			// is often not read as code.
			why: "can make CI run code",
			asked: []string{
				".github/workflows", ".github/actions", "action.yml", "action.yaml", ".gitlab-ci.yml", ".gitlab-ci.yaml", ".gitlab/ci", ".gitea",
				".forgejo", ".circleci", ".travis.yml", "appveyor.yml", ".appveyor.yml", "azure-pipelines*.yml", "azure-pipelines*.yaml",
				".azure-pipelines", "bitbucket-pipelines.yml", "jenkinsfile", "jenkinsfile.*", ".drone.yml", ".drone.yaml", ".drone.star", ".woodpecker",
				".woodpecker.yml", ".woodpecker.yaml", ".cirrus.yml", ".cirrus.star", ".buildkite", ".semaphore", ".teamcity", ".build.yml", ".builds",
				".tekton", "cloudbuild.yaml", "cloudbuild.yml", "buildspec.yml", "buildspec.yaml", "codefresh.yml", ".dagger", ".harness",
			},
		},
		{
			// The account's own programs start at login or by the clock.
			why: "can make the system run code",
			denied: []string{
				".ssh", ".gnupg", "crontab", "crontabs", "cron.d", "cron.daily", "cron.hourly", "cron.weekly", "cron.monthly", "launchagents",
				"launchdaemons", "autostart", ".config/systemd", "systemd/user", "systemd/system",
			},
		},
	}
}

// agentsGroup is the index of the agents' names. Some agents keep working trees of projects
// in their directories, under worktreesDir; what lies there is ordinary source.
const (
	agentsGroup  = 0
	worktreesDir = "worktrees"
)

// protectedIndex finds the group of a name; the groups' denied names and their asked
// ones are numbered apart.
type protectedIndex struct {
	groups []protectedGroup
	table  nameTable
}

var protectedNames = sync.OnceValue(func() *protectedIndex {
	index := &protectedIndex{groups: protectedGroups()}
	for i, g := range index.groups {
		index.table.add(2*i, g.denied)
		index.table.add(2*i+1, g.asked)
	}
	return index
})

// find returns why a path is protected, "" when it is not, and whether DN9 keeps
// commands from it.
func (x *protectedIndex) find(parts []string) (why string, denied bool) {
	for i := range parts {
		g := x.table.at(parts, i)
		if g < 0 || g/2 == agentsGroup && i+1 < len(parts) && parts[i+1] == worktreesDir {
			continue
		}
		if why == "" {
			why = x.groups[g/2].why
		}
		denied = denied || g%2 == 0
	}
	return why, denied
}

// OpenToCommands reports whether a protected name is one that a command may write once
// the user was asked, because ordinary work changes it.
func OpenToCommands(path string) bool {
	why, denied := protectedNames().find(components(path))
	return why != "" && !denied
}
