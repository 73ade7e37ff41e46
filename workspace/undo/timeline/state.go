package timeline

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
)

// Form is what stands at a path.
type Form string

// The forms. The zero value is nothing.
const (
	Absent Form = ""
	File   Form = "file"
	Link   Form = "link"
	Dir    Form = "dir"
	// Other is what is only known to be there, such as a socket.
	Other Form = "other"
)

// State is what stood at a path at one moment.
type State struct {
	Form Form `json:"form,omitempty"`
	// Mode holds the permissions of a file or directory; 0 means that they are not known.
	Mode fs.FileMode `json:"mode,omitempty"`
	// Sum names a file's bytes; "" means that they were not read, and Stamp tells the file from
	// others.
	Sum   Sum    `json:"sum,omitempty"`
	Size  int64  `json:"size,omitempty"`
	Stamp *Stamp `json:"stamp,omitempty"`
	// Target is where a link leads.
	Target string `json:"target,omitempty"`
	// Lack says why the bytes are not kept; "" when they are, or need not be.
	Lack string `json:"lack,omitempty"`
	// Editor says that the state came about through the user's editor. Seen are then the texts
	// that the user may see in it, as the editor may have changed what it was given.
	Editor bool  `json:"editor,omitempty"`
	Seen   []Sum `json:"seen,omitempty"`
}

// Stamp tells states of a file from one another without its bytes.
type Stamp struct {
	Time    int64  `json:"time"`
	Changed int64  `json:"changed"`
	Inode   uint64 `json:"inode"`
}

// Sum is a SHA-256 in hexadecimal.
type Sum string

// SumOf returns a hash in the form that the timeline stores.
func SumOf(hash [sha256.Size]byte) Sum { return Sum(hex.EncodeToString(hash[:])) }

// Hash returns the hash of a Sum that SumOf made.
func (s Sum) Hash() (hash [sha256.Size]byte) {
	_, _ = hex.Decode(hash[:], []byte(s)) // SumOf writes nothing else
	return hash
}

// ModeBits returns the bits of a mode that a State has, and that are put back.
func ModeBits(mode fs.FileMode) fs.FileMode {
	return mode & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}

// Is reports whether two states are the same in all but permissions.
func (s State) Is(other State) bool {
	switch {
	case s.Form != other.Form:
		return false
	case s.Form == Link:
		return s.Target == other.Target
	case s.Form != File:
		return true
	case s.Sum != "" && other.Sum != "":
		return s.Sum == other.Sum || s.sees(other) || other.sees(s)
	case s.Stamp != nil && other.Stamp != nil:
		return *s.Stamp == *other.Stamp && s.Size == other.Size
	}
	return false
}

// sees reports whether another state is one that the editor may have made of this one.
func (s State) sees(other State) bool {
	for _, a := range s.Seen {
		for _, b := range other.Seen {
			if a == b {
				return true
			}
		}
	}
	return false
}

// hasMode reports whether the permissions are those of another state, as far as they are known.
func (s State) hasMode(other State) bool {
	return s.Mode == 0 || other.Mode == 0 || s.Mode == other.Mode
}

// Change is what happened to one path.
type Change struct {
	Path   string `json:"path"`
	Before State  `json:"before"`
	After  State  `json:"after"`
}

// Net is what several changes of one path come to.
type Net struct {
	Change
	// Broken says that something else changed the file between two of them.
	Broken bool
}

// merge adds changes to what earlier ones come to. order lists the paths as they first came.
func merge(nets map[string]*Net, order []string, changes []Change) []string {
	for _, c := range changes {
		n := nets[c.Path]
		if n == nil {
			nets[c.Path] = &Net{Change: c}
			order = append(order, c.Path)
			continue
		}
		if !n.After.Is(c.Before) && n.After.Form != Dir && c.Before.Form != Dir {
			n.Broken = true
		}
		n.After = c.After
	}
	return order
}
