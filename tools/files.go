package tools

import (
	"context"
	"io"
	"io/fs"
	"time"

	"acp-agent/internal/search"
)

// FS is the file system as a call may use it: confined to the session's roots
// and what the user granted, checked again at each operation (R113). Paths
// are absolute or as the model wrote them; "~" and relative ones are resolved.
// Errors are *Error with the path in them, or wrap fs.ErrNotExist.
type FS interface {
	// Stat describes a path, following links within the allowed directories.
	Stat(ctx context.Context, path string) (FileInfo, error)
	// Readlink tells where a path leads that is itself a link, as the link has
	// it; "" for what is not a link, or not there. The target need not exist, nor be
	// one that the call may use.
	Readlink(ctx context.Context, path string) (target string, err error)
	// List returns a directory's entries sorted by name, at most limit; more
	// says that there are others.
	List(ctx context.Context, path string, limit int) (entries []DirEntry, more bool, err error)
	// Open opens a regular file's bytes on disk. It never blocks on a FIFO.
	Open(ctx context.Context, path string) (File, error)
	// ReadLines returns lines [from, to] (1-based, inclusive) as the user
	// sees them: the editor's unsaved buffer when it offers one (R155). ok is
	// false when the file is to be read with Open: no editor has a part in it.
	// What is read with ok may change without a trace on disk.
	ReadLines(ctx context.Context, path string, from, to int) (text string, ok bool, err error)
	// ReadText returns a whole text file as the user sees it, at most
	// Limits.FileBytes, with what a later WriteText needs to know.
	ReadText(ctx context.Context, path string) (Text, error)
	// WriteText replaces a file's text or creates it, parents included, once:
	// through the editor when it offers that, else atomically on disk (R155,
	// P2). before is what ReadText returned, nil for "whatever is there"; when
	// the file is no longer that, nothing is written and the error is ErrChanged.
	WriteText(ctx context.Context, path, text string, before *Text) error
	// Remove deletes a regular file, or a link and never what it leads to; never
	// a directory. It never goes through the editor, which does not offer it.
	// before is as for WriteText.
	Remove(ctx context.Context, path string, before *Text) error
	// Rename moves a regular file with its bytes and mode, and makes the parents
	// of its new name; it refuses a name that is taken, and a file that has
	// unsaved work in the editor.
	Rename(ctx context.Context, from, to string) error
	// Apply makes several changes as one (R97): all are got ready before the first
	// is made, and when one fails those of the disk are taken back. What was handed
	// to the editor by then is for Changes.Rollback, and so is a change of which the
	// error says that it could not be taken back. The caller holds the locks.
	Apply(ctx context.Context, changes []FileChange) error
	// Lock serialises read-change-write of one file, with other agent processes of
	// the user too (R40).
	Lock(ctx context.Context, path string) (unlock func(), err error)
	// Dir opens a directory for searching.
	Dir(ctx context.Context, path string) (search.Dir, error)
	// Secret reports whether a path names a secret (R30), as requested or as
	// resolved.
	Secret(path string) bool
	// SecretName is Secret by the text of an absolute path alone, for names that
	// are known to be no links, such as those of a search that follows none.
	SecretName(path string) bool
	// HoldsAddress reports whether the text of an absolute path is that of a file in which git
	// keeps addresses of remotes, and one of them now holds a user and password. Results show
	// whole lines of it without those; a search or a part of it would tell them all the same.
	HoldsAddress(path string) bool
	// Hidden reports whether a rule forbids the call to read a path, by the text
	// of the absolute path alone: for calls that come by many files and pass over
	// those. One that names a file has been judged by the rules before.
	Hidden(path string) bool
}

// FileChange is one change of FS.Apply: a text, a new name, both, or the end of the
// file.
type FileChange struct {
	// Path names the file, To its new name; empty when it keeps the old one.
	Path, To string
	// Text is what it is to hold; nil when it keeps its text.
	Text *string
	// Delete removes it.
	Delete bool
	// Before is as for WriteText.
	Before *Text
}

// FileInfo describes a file.
type FileInfo struct {
	// Path is absolute; Real is symlink-resolved.
	Path, Real string
	Size       int64
	Mode       fs.FileMode
	ModTime    time.Time
	IsDir      bool
}

// DirEntry is one name in a directory.
type DirEntry struct {
	Name string
	// IsDir is true for directories and for links to them (R27).
	IsDir bool
}

// File is an open regular file.
type File interface {
	io.ReadSeekCloser
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

// Text is a file's text at one moment.
type Text struct {
	Content string
	// FromEditor says that the editor gave it.
	FromEditor bool
	// Exists is false for a file that is not there; Content is then "".
	Exists bool
}
