package command

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
)

// GitEntry is a file that git tracks.
type GitEntry struct {
	Name string // slash-separated, from the top of the working tree
	// Submodule says that it is not a file, but a repository of its own.
	Submodule bool
	// Local says that git ignores the file of the working tree, or has none of its content: the file is
	// marked assume-unchanged, skip-worktree or intent-to-add. Its content is the user's own.
	Local bool
}

var errGitIndex = errors.New("the index is not of a form that is understood")

// The layout of the fixed part of an entry, see gitformat-index(5).
const (
	gitIndexFixed    = 62 // with an object name of 20 bytes
	gitIndexMode     = 24
	gitIndexFlags    = 60
	gitIndexTrailer  = 20
	gitFlagExtended  = 0x4000
	gitFlagAssumed   = 0x8000
	gitMoreLocal     = 0x4000 | 0x2000 // skip-worktree, intent-to-add
	gitFlagNameBits  = 0x0fff
	gitModeType      = 0xf000
	gitModeSubmodule = 0xe000
	gitModeDir       = 0x4000
)

// GitIndex returns what git tracks, from the bytes of its index (versions 2 to 4). It returns an error for an
// index that is inconsistent, or of an unknown form.
func GitIndex(data []byte) ([]GitEntry, error) {
	if len(data) < 12+gitIndexTrailer || string(data[:4]) != "DIRC" {
		return nil, errGitIndex
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 || int64(count) > int64(len(data)/gitIndexFixed) {
		return nil, errGitIndex
	}
	rest := data[12 : len(data)-gitIndexTrailer]
	entries := make([]GitEntry, 0, count)
	name := ""
	for range count {
		if len(rest) < gitIndexFixed {
			return nil, errGitIndex
		}
		fixed := gitIndexFixed
		mode := binary.BigEndian.Uint32(rest[gitIndexMode:])
		flags := binary.BigEndian.Uint16(rest[gitIndexFlags:])
		local := flags&gitFlagAssumed != 0
		if flags&gitFlagExtended != 0 {
			fixed += 2
			local = local || len(rest) >= fixed && binary.BigEndian.Uint16(rest[gitIndexFixed:])&gitMoreLocal != 0
		}
		var used int
		var ok bool
		if version == 4 {
			name, used, ok = gitNameV4(rest, fixed, name)
		} else {
			name, used, ok = gitName(rest, fixed)
		}
		// The length in the flags checks where the name ends.
		if given := int(flags & gitFlagNameBits); !ok || name == "" || given < gitFlagNameBits && given != len(name) || mode&gitModeType == gitModeDir {
			return nil, errGitIndex
		}
		entries = append(entries, GitEntry{Name: strings.Clone(name), Submodule: mode&gitModeType == gitModeSubmodule, Local: local})
		rest = rest[used:]
	}
	return entries, gitExtensions(rest)
}

// gitName reads a name that ends in one to eight NULs, which fill the entry up to a
// multiple of eight bytes.
func gitName(entry []byte, fixed int) (name string, used int, ok bool) {
	if len(entry) < fixed {
		return "", 0, false
	}
	end := bytes.IndexByte(entry[fixed:], 0)
	if end < 0 {
		return "", 0, false
	}
	used = (fixed + end + 8) &^ 7
	return string(entry[fixed : fixed+end]), used, used <= len(entry)
}

// gitNameV4 reads a name of version 4, which may share the beginning of the one before it.
func gitNameV4(entry []byte, fixed int, before string) (name string, used int, ok bool) {
	at, strip := fixed, 0
	for {
		if at >= len(entry) || strip > len(before) {
			return "", 0, false
		}
		b := entry[at]
		at++
		strip = strip<<7 | int(b&0x7f)
		if b&0x80 == 0 {
			break
		}
		strip++
	}
	end := bytes.IndexByte(entry[min(at, len(entry)):], 0)
	if end < 0 || strip > len(before) {
		return "", 0, false
	}
	return before[:len(before)-strip] + string(entry[at:at+end]), at + end + 1, true
}

// gitExtensions checks the extensions after the entries. One with a name in lower case changes what the
// entries mean, such as that of an index that is split over two files.
func gitExtensions(rest []byte) error {
	for len(rest) > 0 {
		if len(rest) < 8 || rest[0] < 'A' || rest[0] > 'Z' {
			return errGitIndex
		}
		size := int64(binary.BigEndian.Uint32(rest[4:]))
		if size > int64(len(rest)-8) {
			return errGitIndex
		}
		rest = rest[8+size:]
	}
	return nil
}
