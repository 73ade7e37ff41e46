package main

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/internal/shell"
)

// workPath is work as a path that a shell takes as it is.
const workPath = "/directory-of-the-recording"

// refusedMove is what the shell of a recording prints where there is no directory to move to.
const refusedMove = "cd:1: no such file or directory"

// moves follows the directory of a terminal that stays open from one command to the next.
type moves struct {
	dirs map[string]bool // that the project has had
	dir  string          // beneath the directory of the recording; empty: that itself
	lost bool
}

// directories are those of all files in the history of a repository.
func directories(repository string) (map[string]bool, error) {
	names, err := git(repository, "-c", "core.quotePath=false", "log", "--all", "--format=", "--name-only", "--no-renames")
	found := map[string]bool{"": true}
	for name := range strings.Lines(string(names)) {
		for dir := path.Dir(strings.TrimSpace(name)); dir != "." && !found[dir]; dir = path.Dir(dir) {
			found[dir] = true
		}
	}
	return found, err
}

// at is the directory in which the next command runs; the directory of the recording where it is not known.
func (m *moves) at() string {
	if m.lost {
		return ""
	}
	return m.dir
}

// follow goes where the items of a list take the shell, as far as they name it; output is what was
// recorded right after the command.
func (m *moves) follow(command, output string) {
	file, err := syntax.NewParser().Parse(strings.NewReader(strings.ReplaceAll(command, work, workPath)), "")
	if err != nil || strings.Contains(output, refusedMove) {
		return
	}
	for _, s := range file.Stmts {
		m.statement(s)
	}
}

func (m *moves) statement(s *syntax.Stmt) {
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt {
			m.statement(c.X)
			m.statement(c.Y)
		} else if c.Op == syntax.OrStmt {
			m.statement(c.X)
		}
	case *syntax.CallExpr:
		if len(c.Args) > 0 && c.Args[0].Lit() == "cd" && !s.Background {
			m.cd(c.Args[1:])
		}
	}
}

func (m *moves) cd(args []*syntax.Word) {
	if len(args) != 1 {
		m.lost = true
		return
	}
	to, ok := shell.Static(args[0])
	dir, inside := strings.CutPrefix(to.Value, workPath)
	switch {
	case ok && inside:
		m.dir, m.lost = strings.TrimPrefix(path.Clean("/"+dir), "/"), false
	case !ok || to.Tilde || path.IsAbs(to.Value):
		m.dir, m.lost = "", true
	case !m.lost:
		next := strings.TrimPrefix(path.Join("/", m.dir, to.Value), "/")
		fresh := strings.TrimPrefix(path.Join("/", to.Value), "/")
		switch {
		case to.Value == ".." && m.dir == "":
			m.lost = true
		case m.dirs[next]:
			m.dir = next
		case m.dirs[fresh]:
			m.dir = fresh // another terminal, which begins in the directory of the recording
		}
	}
}
