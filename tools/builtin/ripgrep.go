package builtin

import (
	"context"
	"embed"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"acp-agent/internal/pathname"
	"acp-agent/internal/search"
	"acp-agent/tools"
)

// ripgrep lets the ripgrep that the user configured do the wide part of a
// search (R45, R49). It is asked only which files can matter; our own engine
// then looks at those and at nothing else. So the results are the same with
// and without it: patterns keep their meaning (RE2 and doublestar), limits,
// order and secrets are dealt with in one place, and no answer of ripgrep can
// lead out of the session's directories.
//
// Two things remain its own. What it cannot read ends the search with its
// error, where our engine counts and goes on. And a file is not found that it
// ignores and git does not: where it reads a .gitignore in another way, or,
// before version 14, because of a .rgignore.
//
// Single files, directories that are not the session's own and searches whose
// question is too long for a command line are left to our engine alone.
type ripgrep struct {
	// path is absolute; "" means that there is none.
	path string
}

// maxCommand bounds the text of a command, which some systems limit to 32 KiB.
const maxCommand = 30_000

// files narrows dir to the files that a glob may find.
func (g ripgrep) files(ctx context.Context, rt tools.Runtime, dir search.Dir, o search.GlobOptions) (search.Dir, error) {
	if g.path == "" {
		return dir, nil
	}
	// Searching nothing tells whether the pattern is one.
	if _, err := search.Glob(ctx, search.FromFS(embed.FS{}), o); err != nil {
		return nil, err
	}
	args := append([]string{"--files"}, scope(o.Pattern, o.Hidden)...)
	found := newCandidates()
	a := &answer{take: func(name string, _ bool) { found.add(name) }}
	return g.narrow(ctx, rt, dir, o.Base, args, a, found)
}

// matching narrows dir to the files that have a line which can match. Secret
// files stay in, match or not: their number is told, and it must not give away
// what is in them.
func (g ripgrep) matching(ctx context.Context, rt tools.Runtime, dir search.Dir, o search.GrepOptions) (search.Dir, error) {
	if g.path == "" {
		return dir, nil
	}
	if _, err := search.Grep(ctx, search.FromFS(embed.FS{}), o, nil); err != nil {
		return nil, err
	}
	expr, err := coarse(o.Pattern, o.Literal, o.CaseSensitive)
	if err != nil {
		return nil, &search.PatternError{Pattern: o.Pattern, Err: err}
	}
	// What is text is decided by our engine, so ripgrep takes all for text.
	args := append([]string{
		"--count", "--include-zero", "--max-count=1", "--text", "--encoding=none", "--case-sensitive", "--regexp=" + expr,
	}, scope(o.Glob, o.Hidden)...)
	found := newCandidates()
	a := &answer{counted: true, take: func(name string, hit bool) {
		if hit || o.Skip(filepath.Join(o.Base, filepath.FromSlash(name))) {
			found.add(name)
		}
	}}
	return g.narrow(ctx, rt, dir, o.Base, args, a, found)
}

// narrow asks the question and makes the directory of what was found.
func (g ripgrep) narrow(
	ctx context.Context, rt tools.Runtime, dir search.Dir, base string, args []string, a *answer, found *candidates,
) (search.Dir, error) {
	session := rt.Session()
	if session.Resolve != nil {
		base = session.Resolve(base)
	}
	cmd := tools.ShellCommand{Text: g.command(args), Dir: base}
	if pathname.Innermost(session.Roots, base) == "" || len(cmd.Text) > maxCommand {
		return dir, nil
	}
	exit, err := rt.Processes().Run(ctx, cmd, a)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("run ripgrep: %w", err)
	case exit.Code >= 2 || exit.Signal != "":
		return nil, &tools.Error{
			Kind: tools.Backend, Message: fmt.Sprintf("ripgrep exited with code %d", exit.Code),
			Detail: strings.TrimSpace(cleanOutput(string(a.said))),
		}
	case !a.complete():
		return nil, tools.Errorf(tools.Backend, "%s did not answer as ripgrep does", g.path)
	case found.tooMany():
		return dir, nil
	}
	return narrowed{dir, found.root}, nil
}

// command is the shell's text: what ripgrep prints passes through, framed as
// an [answer]; what it says on its error output comes last.
func (g ripgrep) command(args []string) string {
	words := []string{quote(g.path)}
	for _, arg := range args {
		words = append(words, quote(arg))
	}
	// An explicit directory keeps ripgrep from reading its input.
	words = append(words, "--", ".")
	return `printf '\0'; exec 3>&1; said=$(` + strings.Join(words, " ") +
		` 2>&1 >&3 3>&-); code=$?; printf '\0%s' "$said"; exit $code`
}

// quote makes one word of POSIX shell that means the text.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

var (
	// dotName finds a pattern that may name a hidden component.
	dotName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[/{,[\\])\.`) })
	// plainName is a file name pattern that means the same to ripgrep.
	plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w.*-]+(\{[\w.*-]+(,[\w.*-]+)*\}[\w.*-]*)?$`) })
)

// scope makes ripgrep look at every file that our engine would, and at few
// others. Of the ignore files it honours the .gitignore below the directory.
func scope(pattern string, hidden bool) []string {
	args := []string{
		"--no-config", "--null", "--color=never", "--glob=!.git", "--no-require-git", "--no-ignore-parent",
		"--no-ignore-exclude", "--no-ignore-global", "--no-ignore-dot", "--no-ignore-messages", "--regex-size-limit=256M",
	}
	if hidden || dotName().MatchString(pattern) {
		args = append(args, "--hidden")
	}
	// A type, unlike a --glob, does not bring back what is ignored.
	name := pattern[strings.LastIndexByte(pattern, '/')+1:]
	if plainName().MatchString(name) && !strings.Contains(name, "**") {
		args = append(args, "--type-add=wanted:"+name, "--type=wanted")
	}
	return args
}
