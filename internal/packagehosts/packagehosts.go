package packagehosts

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/pathname"
	"acp-agent/internal/regularfile"
)

// Manager is a package manager that the user's own settings send to hosts.
type Manager struct {
	Name string
	// Hosts are the hosts as rules name them, in lower case and with the port unless it is
	// 443. They are sorted and distinct.
	Hosts []string
}

// maxFile bounds a file of settings, in bytes. A larger one counts as empty.
const maxFile = 256 << 10

// Configured returns the package managers for which the user has configured hosts: in files below home,
// in files of the machine, or in environ, which has the form of os.Environ. A setting that cannot
// be read or understood names none. Nor does a file in one of the directories of projects, which are
// resolved: a variable or a link may lead there, or the home may lie there, and what a project's file
// names must not be a part of the user's answer about hosts of theirs.
func Configured(home string, environ, projects []string) []Manager {
	env := variables(environ)
	var found []Manager
	for _, s := range managers {
		if hosts := s.hosts(home, env, projects); len(hosts) > 0 {
			found = append(found, Manager{Name: s.name, Hosts: hosts})
		}
	}
	return found
}

// settings says where the hosts of a package manager are configured.
type settings struct {
	name string
	// files are paths of files; a relative one is below the user's home.
	files []string
	// fileVariables are environment variables that hold the path of another file.
	fileVariables []string
	// keys are the keys in these files whose values hold addresses, in lower case. A key that begins
	// with a colon stands for all keys with that ending.
	keys []string
	// variables are environment variables that hold addresses.
	variables []string
}

// managers are the package managers whose settings can be read line by line.
var managers = []settings{
	{
		name:          "npm", // and pnpm, Yarn 1 and Bun, which read its file
		fileVariables: []string{"NPM_CONFIG_USERCONFIG", "npm_config_userconfig"},
		files:         []string{".npmrc", "/etc/npmrc", "/usr/local/etc/npmrc"},
		keys:          []string{"registry", ":registry"},
		variables:     []string{"NPM_CONFIG_REGISTRY", "npm_config_registry"},
	},
	{
		name:          "pip", // and uv, by its variables
		fileVariables: []string{"PIP_CONFIG_FILE"},
		files:         []string{".config/pip/pip.conf", ".pip/pip.conf", "Library/Application Support/pip/pip.conf", "/etc/pip.conf"},
		keys:          []string{"index-url", "extra-index-url"},
		variables:     []string{"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_INDEX"},
	},
	{
		name:          "go",
		fileVariables: []string{"GOENV"},
		files:         []string{".config/go/env", "Library/Application Support/go/env"},
		keys:          []string{"goproxy", "gosumdb"},
		variables:     []string{"GOPROXY", "GOSUMDB"},
	},
	{
		name:      "cargo",
		files:     []string{".cargo/config.toml", ".cargo/config"},
		keys:      []string{"registry", "index"},
		variables: []string{"CARGO_REGISTRIES_CRATES_IO_INDEX"},
	},
}

// hosts returns the hosts that the settings name.
func (s settings) hosts(home string, env map[string]string, projects []string) []string {
	var hosts []string
	for _, name := range s.variables {
		hosts = append(hosts, hostsOf(env[name])...)
	}
	files := slices.Clone(s.files)
	for _, name := range s.fileVariables {
		if env[name] != "" {
			files = append(files, env[name])
		}
	}
	for _, path := range files {
		if !filepath.IsAbs(path) {
			path = filepath.Join(home, path)
		}
		if within(projects, path) {
			continue
		}
		for _, value := range s.values(readText(path)) {
			hosts = append(hosts, hostsOf(os.Expand(value, func(name string) string { return env[name] }))...)
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// maxLinks is how many links a system follows at most.
const maxLinks = 40

// within reports whether a file, or any link on the way from its name to its content, lies in one of the
// directories.
func within(dirs []string, path string) bool {
	at, left := split(path)
	for links := 0; len(left) > 0; {
		next := filepath.Join(at, left[0])
		if slices.ContainsFunc(dirs, func(dir string) bool { return pathname.Contains(dir, next) }) {
			return true
		}
		target, err := os.Readlink(next)
		if err != nil { // no link
			at, left = next, left[1:]
			continue
		}
		if links++; links > maxLinks {
			return true // it has no content
		}
		root, names := split(target)
		if left = slices.Concat(names, left[1:]); root != "" {
			at = root
		}
	}
	return false
}

// split returns the root of a path, "" where it is relative, and the names below. A ".." stays among them: after
// a link it means the directory above what the link leads to.
func split(path string) (root string, names []string) {
	if filepath.IsAbs(path) {
		volume := filepath.VolumeName(path)
		root, path = volume+string(filepath.Separator), path[len(volume):]
	}
	return root, strings.FieldsFunc(path, func(c rune) bool { return c == '/' || c == filepath.Separator })
}

// readText returns the content of a file, "" if there is none that can be used.
func readText(path string) string {
	data, err := regularfile.Read(path, maxFile+1)
	if err != nil || len(data) > maxFile {
		return ""
	}
	return string(data)
}

// values returns the values of s.keys in a file of lines "key = value". A line that begins
// with a blank continues the value before it, as in pip's files.
func (s settings) values(text string) []string {
	var values []string
	inValue := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, ";") {
			continue
		}
		key, value, isSetting := strings.Cut(trimmed, "=")
		continues := line[0] == ' ' || line[0] == '\t'
		switch {
		case isSetting && s.holdsAddresses(strings.ToLower(strings.TrimSpace(key))):
			inValue = true
			values = append(values, value)
		case inValue && continues && !strings.Contains(key, "["):
			values = append(values, trimmed)
		default:
			inValue = false
		}
	}
	return values
}

// holdsAddresses reports whether a key is one of s.keys.
func (s settings) holdsAddresses(key string) bool {
	return slices.ContainsFunc(s.keys, func(k string) bool {
		return key == k || k[0] == ':' && strings.HasSuffix(key, k)
	})
}

// hostsOf returns the hosts of the addresses in a value. There may be several, in quotes, with names
// and keywords between them.
func hostsOf(value string) []string {
	var hosts []string
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\r\n,|\"'", r) }) {
		word = strings.TrimPrefix(word, "sparse+")
		if _, address, named := strings.Cut(word, "=http"); named { // uv: NAME=ADDRESS
			word = "http" + address
		}
		if host, ok := hostOf(word); ok {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// hostOf returns the host of an address as rules name it.
func hostOf(address string) (host string, ok bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", false
	}
	host = strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.:-_") != "" {
		return "", false // a rule for it would have a wildcard, or stand for no host
	}
	port := u.Port()
	if port == "" && u.Scheme == "http" {
		port = "80"
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" && port != "443" {
		host += ":" + port
	}
	return host, true
}

// variables returns the variables of an environment by name.
func variables(environ []string) map[string]string {
	env := map[string]string{}
	for _, v := range environ {
		if name, value, ok := strings.Cut(v, "="); ok {
			env[name] = value
		}
	}
	return env
}
