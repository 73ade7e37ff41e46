package permissions_test

import (
	"testing"

	"acp-agent/permissions"
)

func TestSecret(t *testing.T) {
	for _, name := range []string{
		".env", "/w/.env", ".ENV", ".env.", ".env ", ".env::$DATA", ".env.local", ".env.production.local", ".env.example.local", `C:\w\.env`,
		"credentials", "credentials.json", "credentials.YAML", "credentials.bak", "a/credentials/b",
		"id_rsa", "id_rsa.bak", "id_ed25519", "id_dsa_old", "id_ecdsa-sk", "id_rsa.pub.bak",
		"server.pem", "a.key", "a.P12", "a.pfx", ".npmrc", ".netrc", ".pypirc", ".pgpass", ".git-credentials",
		"~/.aws/config", "/h/.ssh", "/h/.ssh/config", ".gnupg/x", ".kube/config", ".docker/config.json", "/h/.DOCKER/Config.json",
		"/proc/self/environ", "/proc/1/task/1/environ", "/proc/12/mem", "/etc/shadow", "/etc/GSHADOW-",
		".envrc", ".ENVRC", ".envrc.local", ".env-local", ".env-prod", ".flaskenv", "prod.env", "a/Docker.ENV", ".env.test", ".env.ci", "secrets.yml", "config/secrets.JSON", ".secrets", ".secrets.toml",
		"prod.tfvars", "x.auto.tfvars.json", "terraform.tfstate", "terraform.tfstate.backup", "a.jks", "release.keystore", ".htpasswd", ".vault_pass",
		"service-account.json", "service_account_prod.json", "deploy-service-account.json", "app-firebase-adminsdk-x1.json", "client_secret_1.json",
		"config/master.key", ".dev.vars", "AuthKey.p8", "/h/.claude/.credentials.json", "/h/.codex/auth.json", "/h/.gemini/oauth_creds.json",
		".e\u200bnv", "\u212aube/../.\u212aube/x", ".en\uff56"[:3] + "v",
	} {
		if !permissions.Secret(name) {
			t.Errorf("Secret(%q) = false", name)
		}
	}
	for _, name := range []string{
		"", "/", ".", "main.go", ".env.example", ".env.sample", ".env.template", ".env-example", "a/.ENV.Example", "env", ".environment", "example.env", "a/Sample.env", ".envrc.example",
		"secrets.go", "secrets.py", "src/secrets/store.go", "secret.go", "tfvars.go", "main.tf", "keystore.go", "debug.keystore", "auth.json", "htpasswd.md",
		"service-account.yaml", "service_account.py", "process.env", "import.meta.env", "example.tfvars", "kubeconfig/load.go", "secrets.md",
		"credentials.go", "credentials.test.js", "my-credentials", "id_rsa.pub", "id_ed25519.PUB", "id_card", "pem", "a.pem.txt", "keys.go",
		"docker/config.json", ".docker/other.json", "config.json", "npmrc", "ssh/a",
		"/proc/meminfo", "/proc/cpuinfo", "proc/1/environ", "/w/proc/1/environ", "/etc/passwd", "/w/etc/shadow", "/etc/shadow/a",
	} {
		if permissions.Secret(name) {
			t.Errorf("Secret(%q) = true", name)
		}
	}
}

func TestProtected(t *testing.T) {
	tests := []struct {
		want  permissions.Protection
		names []string
	}{
		{permissions.ProtectedDeny, []string{
			"/w/.acp-agent/config.jsonc", "/w/.acp-agent", "/w/.ACP-Agent./x", "/h/.config/acp-agent/config.jsonc", "/h/.local/share/acp-agent/db",
			"/h/.local/state/acp-agent/log", "/h/Library/Application Support/acp-agent/x", `C:\Users\a\AppData\Roaming\acp-agent\x`, `C:\Users\a\AppData\Local\acp-agent\x`, "/data/own/x", "/DATA/own",
		}},
		{permissions.ProtectedAsk, []string{
			"/w/.git", "/w/.git/config", "/w/.git/hooks/pre-commit", "/w/.GIT/HEAD", "/w/git~1/x", "/w/.git./x", "/w/sub/.git/x", "/w/.gitmodules", "/w/.mcp.json", "/w/.vscode/settings.json",
			"/w/.zed/tasks.json", "/w/.idea/x", "/w/.envrc", "/h/.bashrc", "/h/.zshenv", "/h/.profile", "/h/.ssh/authorized_keys", "/h/.config/fish/config.fish",
			"/h/.config/systemd/user/a", "/etc/systemd/system/a", "/h/Library/LaunchAgents/a", "/etc/cron.d/a", "/h/.config/autostart/a", "/w/.husky/pre-commit", "/w/a.code-workspace", "/w/.g\u200cit/config",
			"/w/.claude/settings.json", "/w/.claude", "/w/.CLAUDE/agents/x.md", "/w/.codex/config.toml", "/w/.gemini/settings.json", "/w/.kiro/hooks/a", "/w/.windsurf/x", "/w/opencode.json",
			"/w/.opencode/x", "/w/AGENTS.md", "/w/sub/agents.md", "/w/CLAUDE.md", "/w/.cursorrules", "/w/.clinerules/a.md", "/w/.agents/agents/a.md", "/w/.agents/skills/a/SKILL.md",
			"/w/.github/copilot-instructions.md", "/w/.aider.conf.yml", "/w/.continue/x",
			"/w/.devcontainer/devcontainer.json", "/w/.vs/x", "/w/.fleet/run.json", "/w/a.sublime-project", "/w/.nvim.lua", "/w/.exrc", "/w/.vimrc", "/w/.dir-locals.el", "/w/.helix/config.toml",
			"/w/mise.toml", "/w/.mise.local.toml", "/w/.config/mise/config.toml", "/w/.tool-versions", "/w/.direnv/x",
			"/w/.pre-commit-config.yaml", "/w/lefthook.yml", "/w/.lefthook.toml", "/w/.githooks/pre-push",
			"/w/tools/hooks/pre-commit", "/w/scripts/Post-Checkout", "/w/commit-msg", "/w/.hg/hgrc", "/w/sub/.jj/repo/config.toml", "/w/.sl/config",
			"/w/.cargo/config.toml", "/w/.cargo/config", "/w/.yarnrc.yml", "/w/.yarn/plugins/a.cjs", "/w/.npmrc", "/w/.pnpmfile.cjs", "/w/sitecustomize.py",
			"/w/.github/workflows/a.yml", "/w/.gitlab-ci.yml", "/w/.circleci/config.yml", "/w/Jenkinsfile", "/w/azure-pipelines-pr.yml",
			"/w/.git/worktrees/a/config",
		}},
		{permissions.Unprotected, []string{
			"", "/", "/w/main.go", "/w/.gitignore", "/w/.github/FUNDING.yml", "/w/Makefile", "/w/package.json", "/w/go.mod", "/w/docs/workflows/a.yml", "/w/cargo/config.toml", "/w/agents/a.md", "/w/claude/x", "/h/.claude/worktrees/a/main.go", "/h/.cursor/worktrees/a/src/x.ts", ".editorconfig", "/w/mise/x", "/w/.config/x.toml", "/home/a/acp-agent/main.go", "/w/config/acp-agent/x", "/w/git/x", "/data/owner/x", "/w/vscode/x", "/w/profile", "/w/tools/hooks/pre-commit.go", "/w/pre-commit.md", "/w/tools/update", "/w/hgrc", "/w/.hg/store/x",
		}},
	}
	for _, tt := range tests {
		for _, name := range tt.names {
			if got := permissions.Protected(name, "/data/own"); got != tt.want {
				t.Errorf("Protected(%q) = %d, want %d", name, got, tt.want)
			}
		}
	}
}

func TestQuoteArgs(t *testing.T) {
	seen := map[string]bool{}
	for _, argv := range [][]string{
		{"a", "b"}, {"a b"}, {"a", "", "b"}, {"a", " b"}, {"a", "'b'"}, {"a 'b'"}, {"a", `b\`}, {"a", "b;c"}, {"a", "b", "c"}, {"a", "b\nc"}, {"'a", "b'"}, {"a", `"b"`},
	} {
		text := permissions.QuoteArgs(argv)
		if seen[text] {
			t.Errorf("QuoteArgs(%q) = %q, which stands for other arguments too", argv, text)
		}
		seen[text] = true
	}
}
