package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/pathname"
)

// buildCaches are the caches without which builds fail, by the variable that moves
// them. A command gets caches of its project: what it put into the user's own caches
// would be run later, outside of any sandbox.
var buildCaches = [...]struct{ name, dir string }{
	{"GOCACHE", "go-build"},
	{"GOPLSCACHE", "gopls"},
	{"GOLANGCI_LINT_CACHE", "golangci-lint"},
	{"STATICCHECK_CACHE", "staticcheck"},
	{"npm_config_cache", "npm"},
	{"PIP_CACHE_DIR", "pip"},
	{"UV_CACHE_DIR", "uv"},
	{"CCACHE_DIR", "ccache"},
	{"YARN_CACHE_FOLDER", "yarn"},
	{"PRE_COMMIT_HOME", "pre-commit"},
}

// caches makes the project's caches writable, and names them. A cache that the
// user has made writable stays the user's own.
func (b *Box) caches(r Request, p *Policy) []string {
	if b.CacheDir == "" || len(r.Roots) == 0 {
		return nil
	}
	whose := r.Roots[0]
	if r.Caches != "" {
		whose += "\x00" + r.Caches
	}
	sum := sha256.Sum256([]byte(whose))
	dir := filepath.Join(b.CacheDir, hex.EncodeToString(sum[:8]))
	if os.MkdirAll(dir, 0o700) != nil {
		return nil
	}
	p.Writable = append(p.Writable, dir)
	var env []string
	for _, cache := range buildCaches {
		if current := b.variable(cache.name); current != "" && slices.ContainsFunc(r.Writable, func(w string) bool { return pathname.Contains(w, current) }) {
			continue
		}
		env = append(env, cache.name+"="+filepath.Join(dir, cache.dir))
	}
	if r.Caches != "" {
		env = append(env, "GOMODCACHE="+filepath.Join(dir, "go-mod"))
	}
	return env
}

// tmpDir is where the command finds its directory for temporary files; "" where it has
// none.
func tmpDir(r Request, p *Policy) string {
	dir := r.Tmp
	if p.Kind.HasView() && dir != "" {
		dir = "/tmp"
	}
	if r.Reading && dir != "" {
		// Where the project lies beneath /tmp itself, what is made there later is not readable.
		dir = filepath.Join(dir, ownTmp)
	}
	return dir
}

// ownTmp is the directory in that of a command that only reads.
const ownTmp = "own"

// PrepareTmp makes in the [Request.Tmp] of a command that only reads what the command needs
// there. [Box.Confine] does it where it was not done before.
func PrepareTmp(dir string) {
	if dir != "" {
		_ = os.Mkdir(filepath.Join(dir, ownTmp), 0o700) // else there is none
	}
}

func tmpEnv(r Request, p *Policy) []string {
	tmp := tmpDir(r, p)
	if tmp == "" {
		return nil
	}
	return []string{"TMPDIR=" + tmp, "TMP=" + tmp, "TEMP=" + tmp}
}

// scratchCaches leads a command that changes nothing to caches that end with it: what it
// put into the project's caches, later builds would run.
func scratchCaches(r Request, p *Policy) []string {
	tmp := tmpDir(r, p)
	if tmp == "" {
		return nil
	}
	dir := filepath.Join(tmp, "cache")
	env := []string{"XDG_CACHE_HOME=" + dir, "CARGO_TARGET_DIR=" + filepath.Join(dir, "target"), "GIT_OPTIONAL_LOCKS=0"}
	for _, cache := range buildCaches {
		env = append(env, cache.name+"="+filepath.Join(dir, cache.dir))
	}
	return env
}

func (b *Box) variable(name string) string {
	for _, entry := range b.Environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
