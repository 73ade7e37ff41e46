package launch

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// ErrNoShell reports that neither bash nor sh was found.
var ErrNoShell = errors.New("launch: no bash or sh found")

// Shell is the program that runs a command's text.
type Shell struct {
	// Path is the absolute path of the program.
	Path string
	// Args stand between the program and the text. They end in `--`, so that
	// a text that starts with a dash stays a text (C7).
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
	if p := findProgram("bash", bashPaths(), shellDirs(path), roots); p != "" {
		return Shell{Path: p, Args: []string{"--noprofile", "--norc", "-c", "--"}, Bash: true}, nil
	}
	if p := findProgram("sh", shPaths(), shellDirs(path), roots); p != "" {
		return Shell{Path: p, Args: []string{"-c", "--"}}, nil
	}
	return Shell{}, ErrNoShell
}

func bashPaths() []string {
	if runtime.GOOS != "windows" {
		return []string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash", "/run/current-system/sw/bin/bash"}
	}
	var paths []string
	for _, name := range []string{"ProgramFiles", "ProgramW6432", "ProgramFiles(x86)"} {
		if dir := os.Getenv(name); dir != "" {
			paths = append(paths, filepath.Join(dir, "Git", "bin", "bash.exe"))
		}
	}
	return paths
}

func shPaths() []string {
	if runtime.GOOS == "windows" {
		return nil
	}
	return []string{"/bin/sh", "/usr/bin/sh"}
}

// shellDirs are the directories of a PATH where a shell is looked for.
func shellDirs(path string) []string {
	return slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool {
		// The bash.exe of the Windows system directory starts a virtual
		// machine, out of reach of our job object.
		return strings.EqualFold(filepath.Base(dir), "system32")
	})
}
