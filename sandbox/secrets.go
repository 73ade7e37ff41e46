package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
)

// secretPlaces are the places beneath a home directory that no command may read
// (S5), with the sockets of agents and daemons that live there (S6). Files of the
// same kind inside the project are found by their names, see permissions.Secret.
var secretPlaces = [...]string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".config/gcloud", ".config/gh", ".config/glab-cli", ".config/hub",
	".config/op", ".config/doctl", ".config/rclone", ".config/containers/auth.json",
	".docker/config.json", ".docker/run", ".docker/desktop", ".colima", ".lima", ".orbstack",
	".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".config/git/credentials", ".my.cnf",
	".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".m2/settings-security.xml",
	".gradle/gradle.properties", ".terraform.d/credentials.tfrc.json", ".vault-token", ".boto", ".s3cfg",
	".password-store", ".local/share/keyrings", ".local/share/kwalletd", ".local/share/pass",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge",
	".Xauthority", ".ICEauthority",
	".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history",
	"Library/Keychains", "Library/Cookies", "Library/Application Support/Google/Chrome", "Library/Application Support/Firefox",
	"Library/Application Support/com.apple.TCC",
}

// startUp are the files of a home directory that make a program run when a person
// logs in or opens a shell, or that say what the person's agents may do (P5). They
// matter where the home is itself a root.
var startUp = [...]string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
	".config/fish", ".config/autostart", ".config/systemd", ".config/environment.d", ".gitconfig", ".config/git",
	".local/bin", "bin", "Library/LaunchAgents", ".agents/agents", ".claude/agents",
}

// socketDirs are where services listen that act for whoever connects (S6). The rest
// of /run is out of sight under bubblewrap; Landlock makes no such sockets.
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

// socketsInUse are the paths of a kernel's list of local sockets: whoever listens there
// acts for whoever connects, and a file system that is only read does not keep a
// command from it.
func socketsInUse(list string) []string {
	var paths []string
	for line := range strings.Lines(list) {
		const before = 7 // columns
		if fields := strings.Fields(line); len(fields) <= before || !filepath.IsAbs(fields[before]) {
			continue
		}
		path := strings.TrimSuffix(line[strings.Index(line, " /")+1:], "\n")
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
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
