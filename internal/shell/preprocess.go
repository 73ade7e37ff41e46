package shell

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Preprocess returns the command and the working directory that will be shown, judged
// and run (R53): a lone "&" at the end is dropped, a leading "cd DIR &&" moves into the
// directory as often as it repeats, and "~" in cwd is replaced. The command returned is
// a slice of cmd. A directory that is not known before running ("$X", "`x`", a glob, a
// brace, "-", an option) stays in the command, and so does one that enters refuses (nil: none),
// and everything when the text does not parse. The only error is *TextError.
func Preprocess(cmd, cwd, home string, enters func(dir string) bool) (cmd2, cwd2 string, err error) {
	return PreprocessIn(Bash, cmd, cwd, home, enters)
}

// PreprocessIn is Preprocess for a given dialect (R54).
func PreprocessIn(dialect Dialect, cmd, cwd, home string, enters func(dir string) bool) (cmd2, cwd2 string, err error) {
	if err := CheckText(cmd); err != nil {
		return cmd, cwd, err
	}
	if expanded, ok := ExpandTilde(cwd, home); ok {
		cwd = expanded
	}
	cmd, cwd = takeCds(dropBackground(cmd, dialect), cwd, home, enters, dialect)
	return cmd, cwd, nil
}

// dropBackground cuts the "&" that ends the text, if it is the operator and nothing but
// blanks follows it.
func dropBackground(cmd string, dialect Dialect) string {
	file, err := Parse(cmd, dialect)
	if err != nil || len(file.Stmts) == 0 {
		return cmd
	}
	last := file.Stmts[len(file.Stmts)-1]
	at := int(last.Semicolon.Offset())
	if !last.Background || !last.Semicolon.IsValid() || at >= len(cmd) || cmd[at] != '&' {
		return cmd
	}
	if strings.Trim(cmd[at+1:], " \t\n") != "" {
		return cmd
	}
	cut := trimBlanks(cmd[:at])
	if again, err := Parse(cut, dialect); err != nil || len(again.Stmts) != len(file.Stmts) {
		return cmd
	}
	return cut
}

// trimBlanks cuts blanks at the end, except one that a backslash makes part of a word.
func trimBlanks(text string) string {
	cut := strings.TrimRight(text, " \t\n")
	if strings.HasSuffix(cut, `\`) {
		return text
	}
	return cut
}

// takeCds moves each "cd DIR &&" at the start of the text into the directory.
func takeCds(cmd, cwd, home string, enters func(dir string) bool, dialect Dialect) (rest, dir string) {
	file, err := Parse(cmd, dialect)
	if err != nil || len(file.Stmts) == 0 {
		return cmd, cwd
	}
	at, dir := 0, cwd
	for _, list := range leadingAnds(file.Stmts[0]) {
		name, ok := cdTarget(list.before)
		if !ok {
			break
		}
		next, ok := joinDir(dir, name, home)
		if !ok || enters != nil && !enters(next) {
			break
		}
		at, dir = int(list.after.Pos().Offset()), next
	}
	if at <= 0 || at > len(cmd) {
		return cmd, cwd
	}
	again, err := Parse(cmd[at:], dialect)
	if err != nil || len(again.Stmts) != len(file.Stmts) || goesBack(again) {
		return cmd, cwd
	}
	return cmd[at:], dir
}

// and is one "before && after" of a list.
type and struct{ before, after *syntax.Stmt }

// leadingAnds returns the pairs with which a statement begins, in the order in which
// they run: a list leans to the left. A list that runs in the background, is negated or
// redirected keeps its cd: taking it out would move what comes after, too.
func leadingAnds(stmt *syntax.Stmt) []and {
	var spine []*syntax.BinaryCmd
	for !busy(stmt) {
		list, ok := stmt.Cmd.(*syntax.BinaryCmd)
		if !ok || list.Op != syntax.AndStmt && list.Op != syntax.OrStmt {
			break
		}
		spine = append(spine, list)
		stmt = list.X
	}
	if busy(stmt) {
		return nil
	}
	var pairs []and
	before := stmt
	for _, list := range slices.Backward(spine) {
		if list.Op != syntax.AndStmt {
			break
		}
		pairs = append(pairs, and{before: before, after: list.Y})
		before = list.Y
	}
	return pairs
}

// cdTarget returns the directory of a "cd DIR" that is known and has no options.
func cdTarget(stmt *syntax.Stmt) (dir Word, ok bool) {
	call, plain := stmt.Cmd.(*syntax.CallExpr)
	if !plain || len(call.Args) != 2 || len(call.Assigns) > 0 || busy(stmt) || call.Args[0].Lit() != "cd" {
		return Word{}, false
	}
	dir, ok = Static(call.Args[1])
	return dir, ok && dir.Value != "" && !strings.HasPrefix(dir.Value, "-")
}

func busy(stmt *syntax.Stmt) bool {
	return stmt.Background || stmt.Negated || stmt.Coprocess || stmt.Disown || len(stmt.Redirs) > 0
}

// goesBack reports whether the program returns to the directory that it came from,
// which a program started in the new directory could not.
func goesBack(file *syntax.File) bool {
	found := false
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.ParamExp:
			found = found || node.Param != nil && node.Param.Value == "OLDPWD"
		case *syntax.Lit:
			found = found || strings.HasPrefix(node.Value, "~-")
		case *syntax.CallExpr:
			if len(node.Args) == 2 && node.Args[0].Lit() == "cd" {
				arg, ok := Static(node.Args[1])
				found = found || ok && arg.Value == "-"
			}
		}
		return !found
	})
	return found
}

// joinDir resolves the directory of a cd against cwd, by text alone.
func joinDir(cwd string, dir Word, home string) (string, bool) {
	name := dir.Value
	if dir.Tilde {
		expanded, ok := ExpandTilde(name, home)
		if !ok {
			return "", false
		}
		name = expanded
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name), true
	}
	if cwd == "" {
		return "", false
	}
	return filepath.Join(cwd, name), true
}
