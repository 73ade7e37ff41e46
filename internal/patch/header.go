package patch

import (
	"fmt"
	"strconv"
	"strings"
)

const devNull = "/dev/null"

// fileName reads a name as header lines have it: in C quotes, or plain, then
// with timed up to a tab, after which programs put a time.
func fileName(text string, timed bool) (string, error) {
	if strings.HasPrefix(text, `"`) {
		quoted, err := strconv.QuotedPrefix(text)
		if err == nil {
			text, err = strconv.Unquote(quoted)
		}
		if err != nil {
			return "", fmt.Errorf("%.60q is no quoted name of a file", text)
		}
		return text, nil
	}
	if timed {
		text, _, _ = strings.Cut(text, "\t")
	}
	return strings.TrimRight(text, " \r"), nil
}

// plainName is a name that stands to the end of its line.
func plainName(text string) string {
	name, err := fileName(text, false)
	if err != nil {
		return text // no quotes then
	}
	return name
}

// name is the file's name for errors.
func (f *rawFile) name() string {
	old, new, err := f.names()
	if err != nil || new == devNull || new == "" {
		return old
	}
	return new
}

// change judges what the header lines ask for. The hunks come later.
func (f *rawFile) change() (FileChange, error) {
	refuse := func(format string, args ...any) (FileChange, error) {
		return FileChange{}, errorf(f.line, f.name(), format, args...)
	}
	if f.copied {
		return refuse("copies cannot be made by a patch: create the file")
	}
	old, new, err := f.names()
	if err != nil {
		return refuse("%v", err)
	}
	c := FileChange{Op: Modify, Path: old, Line: f.line, Executable: f.created == "100755"}
	switch {
	case f.modes:
		return refuse("the mode of a file cannot be changed by a patch")
	case f.created != "" && f.created != "100644" && f.created != "100755":
		return refuse("mode %s is none of a plain file", f.created)
	case f.from != "" || f.to != "":
		c.Op, c.Path, c.NewPath = Rename, f.from, f.to
		if f.from == "" || f.to == "" || f.from == f.to {
			return refuse("a rename needs two different names, \"rename from\" and \"rename to\"")
		}
	case new == devNull && (old == devNull || f.created != ""):
		return refuse("the file has no name")
	case old == devNull || f.created != "":
		c.Op, c.Path = Create, new
	case new == devNull || f.deleted:
		c.Op = Delete
	case old != new:
		return refuse("the names %q and %q differ: a rename has lines \"rename from\" and \"rename to\"", old, new)
	case len(f.hunks) == 0:
		return refuse("the file has no hunk, which begins with a line such as \"@@ -1,3 +1,4 @@\"")
	}
	return c, nil
}

// names are the old and the new name without the prefixes of git.
func (f *rawFile) names() (old, new string, err error) {
	switch {
	case f.from != "" || f.to != "":
		return f.from, f.to, nil
	case f.named:
		old, new = trimPrefixes(f.old, f.new)
		return old, new, nil
	}
	return gitNames(f.git)
}

// trimPrefixes takes "a/" and "b/" off where they are those of git: on both
// names, on the only one, or where the names are equal without.
func trimPrefixes(old, new string) (string, string) {
	shortOld, hadOld := strings.CutPrefix(old, "a/")
	shortNew, hadNew := strings.CutPrefix(new, "b/")
	if hadOld && (hadNew || new == devNull) || hadNew && old == devNull || shortOld == shortNew {
		return shortOld, shortNew
	}
	return old, new
}

// gitNames reads the names of a line "diff --git", which alone names files that
// have no hunks. Names may hold blanks: the two names are the equal halves.
func gitNames(text string) (old, new string, err error) {
	if strings.HasPrefix(text, `"`) {
		first, err := strconv.QuotedPrefix(text)
		if err != nil {
			return "", "", fmt.Errorf("%.60q has no quoted name", text)
		}
		if old, err = fileName(first, false); err != nil {
			return "", "", err
		}
		if new, err = fileName(strings.TrimLeft(text[len(first):], " "), false); err != nil {
			return "", "", err
		}
		old, new = trimPrefixes(old, new)
		return old, new, nil
	}
	text = strings.TrimRight(text, " \r")
	for i := range len(text) {
		if text[i] != ' ' {
			continue
		}
		if old, new = trimPrefixes(text[:i], text[i+1:]); old == new {
			return old, new, nil
		}
	}
	return "", "", fmt.Errorf("no names can be read from %.60q: add the lines \"---\" and \"+++\"", "diff --git "+text)
}
