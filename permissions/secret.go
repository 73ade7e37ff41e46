package permissions

import (
	"slices"
	"strings"
)

// Secret reports whether the path names a file or directory that holds secrets, by its
// name alone (R30, P8). Each component counts, folded as for denies, so `.ENV`,
// `.env.` and `.ssh/config` are secret. Callers ask for the requested and for the
// resolved name.
func Secret(path string) bool {
	parts := components(path)
	if strings.HasPrefix(path, "/") && systemSecret(parts) {
		return true
	}
	for i, part := range parts {
		if secretName(part) {
			return true
		}
		if part == "config.json" && i > 0 && parts[i-1] == ".docker" {
			return true
		}
	}
	return false
}

// systemSecret reports the files of a system that hold secrets of its users or of a
// process, our own environment with the model server's key among them.
func systemSecret(parts []string) bool {
	if len(parts) < 2 {
		return false
	}
	switch last := parts[len(parts)-1]; parts[0] {
	case "proc":
		return last == "environ" || last == "mem"
	case "etc":
		return len(parts) == 2 && slices.Contains([]string{"shadow", "shadow-", "gshadow", "gshadow-"}, last)
	}
	return false
}

func secretName(name string) bool {
	switch name {
	case ".npmrc", ".netrc", ".pypirc", ".pgpass", ".git-credentials",
		".aws", ".ssh", ".gnupg", ".kube", ".env", "credentials":
		return true
	}
	if strings.HasPrefix(name, ".env.") {
		return name != ".env.example" && name != ".env.sample" && name != ".env.template"
	}
	if ext, ok := strings.CutPrefix(name, "credentials."); ok {
		return slices.Contains([]string{"json", "yaml", "yml", "toml", "ini", "xml", "csv", "txt", "bak"}, ext)
	}
	for _, key := range []string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"} {
		if strings.HasPrefix(name, key) {
			return !strings.HasSuffix(name, ".pub")
		}
	}
	for _, ext := range []string{".pem", ".key", ".p12", ".pfx"} {
		if strings.HasSuffix(name, ext) {
			return true
		}
	}
	return false
}
