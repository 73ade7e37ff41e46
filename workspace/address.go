package workspace

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/gitdir"
	"acp-agent/internal/redact"
	"acp-agent/workspace/run"
)

// HoldsAddress implements tools.FS.
func (f files) HoldsAddress(path string) bool {
	abs := f.w.abs(path)
	if !namesAddresses(abs) && !inBareRepository(abs) {
		return false
	}
	file, err := f.Open(context.Background(), abs)
	if err != nil {
		return false // what cannot be opened is not shown either
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, run.MaxAddressFile+1))
	text := string(data)
	return err != nil || len(data) > run.MaxAddressFile || redact.Addresses(text) != text
}

// namesAddresses reports whether a path is one of the files in which git keeps addresses of
// remotes as text.
func namesAddresses(path string) bool {
	parts := strings.Split(strings.ToLower(filepath.ToSlash(path)), "/")
	switch last := parts[len(parts)-1]; last {
	case ".gitconfig", ".gitmodules":
		return true
	case "config", "config.worktree", "fetch_head":
		return slices.ContainsFunc(parts, gitsOwn)
	}
	git := slices.IndexFunc(parts, gitsOwn)
	return git >= 0 && slices.Contains(parts[git:], "logs")
}

// gitsOwn reports the customary name of git's own directory, or of a repository that is nothing else.
func gitsOwn(name string) bool { return strings.HasSuffix(name, ".git") }

// inBareRepository reports the configuration of a repository without a working tree, whatever the name of its directory is.
func inBareRepository(path string) bool {
	return strings.EqualFold(filepath.Base(path), "config") && gitdir.MayExist(filepath.Join(filepath.Dir(path), "HEAD"))
}
