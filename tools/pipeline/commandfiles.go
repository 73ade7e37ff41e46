package pipeline

import (
	"context"
	"io"
	"io/fs"
	"unicode/utf8"

	"acp-agent/permissions/command"
	"acp-agent/tools"
	"acp-agent/workspace"
)

// commandFiles answers the questions of the command judge about the files that one call could touch.
type commandFiles struct {
	work *workspace.Workspace
	// own are the agent's directories, see Machine; home is the user's home directory.
	own  []string
	home string
	// call and tool name the call that is judged.
	call, tool string
}

// holdsAddress is tools.FS.HoldsAddress.
func (f commandFiles) holdsAddress(path string) bool {
	runtime := f.work.Call(f.call+"/git", f.tool, nil)
	defer runtime.Finish()
	return runtime.FS().HoldsAddress(path)
}

// regular reports whether a path, with links followed, is an existing regular file inside the session's
// directories.
func (f commandFiles) regular(path string) bool {
	access, err := f.work.Check(path, false)
	if err != nil || !access.Inside {
		return false
	}
	runtime := f.work.Call(f.call+"/judge", f.tool, nil)
	defer runtime.Finish()
	info, err := runtime.FS().Stat(context.Background(), access.Real)
	return err == nil && info.Mode.IsRegular()
}

// script returns the text of a regular file inside the session's directories, with links followed, that holds
// the script of a command.
func (f commandFiles) script(path string) (text string, ok bool) {
	access, err := f.work.Check(path, false)
	if err != nil || !access.Inside {
		return "", false
	}
	runtime := f.work.Call(f.call+"/judge", f.tool, nil)
	defer runtime.Finish()
	file, err := runtime.FS().Open(context.Background(), access.Real)
	if err != nil {
		return "", false
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, command.MaxScript+1))
	return string(data), err == nil && len(data) <= command.MaxScript && utf8.Valid(data)
}

// waits reports whether a path leads to a pipe, a socket, a device or a file of the kernel.
func (f commandFiles) waits(path string) bool {
	access, _ := f.work.Check(path, false) // the error is expected: Check refuses such paths
	return access.Waits
}

// list returns the names in a directory, which must lie inside the session's directories with links
// followed.
func (f commandFiles) list(dir string) ([]string, error) {
	access, err := f.work.Check(dir, false)
	if err != nil {
		return nil, err
	}
	if !access.Inside {
		return nil, tools.Errorf(tools.Denied, "%s lies outside the session's directories", dir)
	}
	runtime := f.work.Call(f.call+"/list", f.tool, nil)
	defer runtime.Finish()
	info, err := runtime.FS().Stat(context.Background(), access.Real)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode.IsDir():
		return nil, fs.ErrNotExist
	}
	opened, err := runtime.FS().Dir(context.Background(), access.Real)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	entries, err := opened.ReadDir()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return names, nil
}
