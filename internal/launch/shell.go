package launch

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrNoShell reports that neither bash nor sh was found.
var ErrNoShell = errors.New("launch: no bash or sh found")

// Shell is the program that runs a command's text.
type Shell struct {
	// Path is the absolute path of the program.
	Path string
	// Args stand between the program and the text. They end in `--`, so that
	// a text that begins with a dash stays a text (C7).
	Args []string
	// Bash tells bash from a plain sh, whose commands are parsed and judged
	// as POSIX (R54).
	Bash bool
}

// FindShell returns bash, else sh, from the usual places and then from the
// absolute directories of path, a PATH value. A shell that lies inside one of
// the workspace directories, also by way of a symbolic link, is passed over.
// The user's own $SHELL is never used: commands are judged as bash or sh.
// Without either the error is [ErrNoShell] (R54).
func FindShell(path string, workspace []string) (Shell, error) {
	roots := resolveAll(workspace)
	if p := findProgram("bash", bashPlaces(), path, roots); p != "" {
		return Shell{Path: p, Args: []string{"--noprofile", "--norc", "-c", "--"}, Bash: true}, nil
	}
	if p := findProgram("sh", shPlaces(), path, roots); p != "" {
		return Shell{Path: p, Args: []string{"-c", "--"}}, nil
	}
	return Shell{}, ErrNoShell
}

func bashPlaces() []string {
	if runtime.GOOS != "windows" {
		return []string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash", "/run/current-system/sw/bin/bash"}
	}
	var places []string
	for _, name := range []string{"ProgramFiles", "ProgramW6432", "ProgramFiles(x86)"} {
		if dir := os.Getenv(name); dir != "" {
			places = append(places, filepath.Join(dir, "Git", "bin", "bash.exe"))
		}
	}
	return places
}

func shPlaces() []string {
	if runtime.GOOS == "windows" {
		return nil
	}
	return []string{"/bin/sh", "/usr/bin/sh"}
}

// findProgram returns the first runnable candidate outside the workspace.
func findProgram(name string, places []string, path string, roots []string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, dir := range filepath.SplitList(path) {
		// The bash.exe of the Windows system directory starts a virtual
		// machine, out of reach of our job object.
		if filepath.IsAbs(dir) && !strings.EqualFold(filepath.Base(dir), "system32") {
			places = append(places, filepath.Join(dir, name))
		}
	}
	for _, p := range places {
		real, err := filepath.EvalSymlinks(p)
		if err != nil || within(p, roots) || within(real, roots) {
			continue
		}
		if info, err := os.Stat(real); err == nil && info.Mode().IsRegular() && runnable(info) {
			return p
		}
	}
	return ""
}

func runnable(info os.FileInfo) bool {
	return runtime.GOOS == "windows" || info.Mode()&0o111 != 0
}

// resolveAll returns the directories cleaned, and with symbolic links followed
// where that gives another name.
func resolveAll(dirs []string) []string {
	var out []string
	for _, d := range dirs {
		if d == "" {
			continue
		}
		d = filepath.Clean(d)
		out = append(out, d)
		if real, err := filepath.EvalSymlinks(d); err == nil && real != d {
			out = append(out, real)
		}
	}
	return out
}

// within reports whether path is one of the roots or lies beneath one.
func within(path string, roots []string) bool {
	for _, root := range roots {
		rel, err := filepath.Rel(root, path)
		if err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}
