package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
)

// secretPlaces are the places beneath a home directory that no command may read
// (S5), with the sockets of agents and daemons that live there (S6). A home is hidden but
// for its allow-list (shownHome), so they count for what no table opens: a variable, a
// directory of the configuration, and a home that the session works in. Files of
// the same kind inside the project are found by their names, see permissions.Secret.
var secretPlaces = [...]string{
	// keys, passwords and keyrings
	".ssh", ".gnupg", ".password-store", ".local/share/keyrings", ".local/share/kwalletd", ".local/share/pass", ".vault-token", ".config/op",
	".config/sops", ".config/age", ".age", ".pki", ".config/Bitwarden", ".config/Bitwarden CLI", ".config/1Password", ".config/keepassxc", ".electrum", ".bitcoin",
	".netrc", "_netrc", ".authinfo", ".authinfo.gpg", ".pgpass", ".my.cnf", ".mylogin.cnf", ".config/msmtp", ".msmtprc", ".fetchmailrc",
	// clouds and services
	".aws", ".azure", ".kube", ".config/gcloud", ".boto", ".s3cfg", ".oci", ".aliyun", ".bluemix", ".config/doctl", ".config/hcloud", ".config/linode-cli", ".config/scw",
	".config/rclone", ".config/configstore", ".config/.wrangler", ".wrangler/config", ".config/netlify", ".netlify", ".config/vercel", ".vercel", ".local/share/com.vercel.cli",
	".config/heroku", ".config/stripe", ".config/supabase", ".supabase", ".railway", ".fly", ".config/ngrok", ".ngrok2", ".pulumi", ".terraformrc", ".terraform.d/credentials.tfrc.json",
	".databrickscfg", ".snowflake", ".config/firebase", ".sentryclirc", ".config/snyk", ".config/circleci", ".circleci", ".travis", ".config/spotify",
	// git and its hosts
	".git-credentials", ".config/git/credentials", ".config/gh", ".config/glab-cli", ".config/hub", ".config/tea", ".config/gh-copilot",
	// containers and virtual machines
	".docker/config.json", ".docker/run", ".docker/desktop", ".docker/contexts", ".config/containers/auth.json", ".colima", ".lima", ".orbstack", ".vagrant.d/data",
	".config/helm/registry", ".config/argocd",
	// package registries
	".npmrc", ".config/npm/npmrc", ".config/pnpm/rc", ".yarnrc.yml", ".yarnrc", ".bunfig.toml", ".pypirc", ".config/pypoetry/auth.toml", ".config/uv/credentials",
	".cargo/credentials", ".cargo/credentials.toml", ".bundle/config", ".gem/credentials", ".local/share/gem/credentials", ".m2/settings.xml", ".m2/settings-security.xml",
	".gradle/gradle.properties", ".gradle/init.gradle", ".gradle/init.d", ".ivy2/.credentials", ".sbt/.credentials", ".sbt/credentials", ".sbt/1.0/credentials.sbt", ".config/coursier",
	".composer/auth.json", ".config/composer/auth.json", ".hex/hex.config", ".config/hex", ".config/rebar3", ".nimble/github_api_token", ".luarocks/upload_config.lua",
	".pub-cache/credentials.json", ".config/dart", ".conan/.conan.db", ".conan2/credentials.json", ".platformio/appstate.json", ".continuum", ".config/cpan",
	".pause", ".stack/upload", ".Renviron", ".julia/servers", ".local/share/binstar", ".foundry/keystores", ".microsoft/usersecrets", ".aspnet", ".android/adbkey",
	// agents and models
	".claude/.credentials.json", ".claude.json", ".codex/auth.json", ".codex/history.jsonl", ".gemini/oauth_creds.json", ".gemini/google_accounts.json", ".gemini/.env",
	".config/github-copilot", ".copilot/config.json", ".local/share/opencode/auth.json", ".local/share/opencode/mcp-auth.json", ".amp/oauth", ".config/amp/settings.json",
	".local/share/amp/secrets.json", ".aider.conf.yml", ".continue/config.json", ".continue/config.yaml", ".continue/.env", ".cursor/mcp.json", ".config/Cursor/User/globalStorage",
	".codeium/config.json", ".codeium/windsurf/mcp_config.json", ".config/Windsurf/User/globalStorage", ".qwen/oauth_creds.json", ".factory/auth.json", ".config/goose/secrets.yaml",
	".local/share/crush", ".config/openai", ".openai", ".config/anthropic", ".anthropic", ".ollama/id_ed25519", ".aws/sso",
	".huggingface", ".cache/huggingface/token", ".cache/huggingface/stored_tokens", ".kaggle", ".config/wandb", ".replicate", ".config/io.datasette.llm/keys.json",
	// editors, browsers and mail
	".config/Code/User/globalStorage", ".vscode-server/data/User/globalStorage", ".config/VSCodium/User/globalStorage", ".local/share/jupyter/runtime",
	".jupyter/jupyter_server_config.json", ".jupyter/jupyter_notebook_config.json",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi", ".config/opera",
	".config/Slack", ".config/discord", ".config/Signal", ".local/share/TelegramDesktop", ".config/evolution", ".local/share/evolution",
	".Xauthority", ".ICEauthority",
	// what was typed
	".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history", ".sqlite_history", ".rediscli_history",
	".local/share/fish/fish_history", ".irb_history", ".lesshst", ".viminfo", ".local/share/atuin", ".local/share/zoxide",
	"Library/Keychains", "Library/Cookies", "Library/Application Support/Google/Chrome", "Library/Application Support/Firefox", "Library/Mail", "Library/Messages",
	"Library/Application Support/com.apple.TCC", "Library/Application Support/Claude", "Library/Application Support/Code/User/globalStorage",
}

// startUp are the files of a home directory that make a program run when a user
// logs in or opens a shell, or that say what the user's agents may do (P5). They
// matter where the home is itself a root.
var startUp = [...]string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
	".config/fish", ".config/autostart", ".config/systemd", ".config/environment.d", ".gitconfig", ".config/git",
	".local/bin", "bin", "Library/LaunchAgents", ".agents/agents", ".claude/agents",
	".agents/commands", ".claude/commands", ".config/acp-agent/commands", ".config/opencode/commands", ".config/opencode/command",
}

// socketDirs are where services listen that act for every process that connects (S6). The rest
// of /run is out of sight under bubblewrap; without a view, local sockets stay closed.
var socketDirs = [...]string{"/run/user", "/var/run/docker.sock", "/run/docker.sock", "/run/dbus", "/run/podman", "/run/containerd"}

// sockets are the sockets that variables of an environment name (S6).
func sockets(environ []string) []string {
	var paths []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		switch name {
		case "SSH_AUTH_SOCK", "DOCKER_HOST", "CONTAINER_HOST", "DBUS_SESSION_BUS_ADDRESS", "GPG_AGENT_INFO":
		default:
			continue
		}
		value = value[strings.LastIndexAny(value, ":=")+1:]
		value = strings.TrimPrefix(value, "//")
		if path, _, _ := strings.Cut(value, ","); filepath.IsAbs(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// socketsInUse are the paths of a kernel's list of local sockets: a service that listens there
// acts for every process that connects, and a file system that is only read does not keep a
// command from it. A name that is listed as the service wrote it, which does not begin at the
// top, is taken for one beneath each of the roots, where servers of a project are started.
func socketsInUse(list string, roots []string) []string {
	var paths []string
	add := func(path string) {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	for line := range strings.Lines(list) {
		const columns = 7 // before the name
		name := line
		for range columns {
			_, name, _ = strings.Cut(strings.TrimLeft(name, " "), " ")
		}
		name = strings.TrimSuffix(name, "\n")
		if name == "" || name[0] == '@' || strings.HasPrefix(line, "Num ") {
			continue
		}
		if filepath.IsAbs(name) {
			add(name)
			continue
		}
		for _, root := range roots {
			add(filepath.Join(root, name))
		}
	}
	return paths
}

// under are the names as paths beneath a directory; none where that is not known.
func under(dir string, names []string) []string {
	if dir == "" {
		return nil
	}
	paths := make([]string, 0, len(names))
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return paths
}
