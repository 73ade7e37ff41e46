package permissions

import (
	"fmt"
	"slices"
	"strings"
)

// Secret reports whether the path names a file or directory that holds secrets, by its
// name alone (R30, P8). Each component counts, folded as for denies, so `.ENV`,
// `.env.` and `.ssh/config` are secret. Callers ask for the requested and for the
// resolved name. It is what [Secrets.Holds] says without a configuration.
func Secret(path string) bool { return (*Secrets)(nil).Holds(path) }

// Secrets says which names hold secrets in a session: the families that are known, and
// what the configuration adds. Reading, searching, the command judge, git and the sandbox
// all ask it. Nil knows the families alone. It is safe for concurrent use.
type Secrets struct {
	further nameTable
	some    bool
	tracked func(path string) bool
	known   verdicts
}

// NewSecrets returns the names of a session. further are patterns of a configuration,
// see CheckNamePattern; tracked reports whether git tracks the file of an absolute path,
// nil that it tracks none.
func NewSecrets(further []string, tracked func(path string) bool) (*Secrets, error) {
	for _, pattern := range further {
		if err := CheckNamePattern(pattern); err != nil {
			return nil, fmt.Errorf("secret name %q: %w", pattern, err)
		}
	}
	s := &Secrets{some: len(further) > 0, tracked: tracked}
	s.further.add(0, further)
	return s, nil
}

// Holds reports whether a file or directory of the path's name is never read.
func (s *Secrets) Holds(path string) bool {
	v := s.verdict(path)
	return v.secret && !(v.shared && s.isTracked(path))
}

// verdict is what a path's name alone says of it.
type verdict struct {
	secret bool
	// shared says that the file is meant to be read when git tracks it.
	shared bool
}

// verdict judges a name, or has judged it before: a call asks for one name many times.
func (s *Secrets) verdict(path string) verdict {
	if s == nil {
		return s.judge(path)
	}
	v, ok := s.known.get(path)
	if !ok {
		v = s.judge(path)
		s.known.put(path, v)
	}
	return v
}

func (s *Secrets) judge(path string) verdict {
	parts := components(path)
	if strings.HasPrefix(path, "/") && systemSecret(parts) || s != nil && s.some && s.further.find(parts) >= 0 {
		return verdict{secret: true}
	}
	some, shared := inFamilies(parts)
	return verdict{secret: some, shared: shared}
}

// Masked reports whether commands are kept from what the last component of a path names,
// where a sandbox can hide it. What git tracks stays visible but for the names of the first
// family: git could not work with it otherwise, and has its text in any case.
func (s *Secrets) Masked(path string) bool {
	parts := components(path)
	if len(parts) == 0 {
		return false
	}
	if s != nil && s.some && s.further.at(parts, len(parts)-1) >= 0 {
		return true
	}
	family, shared := familyAt(parts, len(parts)-1)
	if family == nil || !family.masked {
		return false
	}
	return family.always && !shared || !s.isTracked(path)
}

func (s *Secrets) isTracked(path string) bool {
	return s != nil && s.tracked != nil && s.tracked(path)
}

// inFamilies reports whether some component of a path is a secret's. shared says that the
// last one alone is, by a name that is meant to be read when git tracks it.
func inFamilies(parts []string) (some, shared bool) {
	for i := range parts {
		family, tracked := familyAt(parts, i)
		switch {
		case family == nil:
		case tracked && i == len(parts)-1 && !some:
			return true, true
		default:
			some = true
		}
	}
	return some, false
}

// familyAt returns the family of a component, nil when the component alone does not
// name a secret.
func familyAt(parts []string, i int) (family *secretFamily, shared bool) {
	index := secretNames()
	at := index.names.at(parts, i)
	switch {
	case matchesAny(parts[i], index.templates):
		return nil, false
	case at >= 0:
		return &index.families[at], matchesAny(parts[i], index.tracked)
	}
	for _, original := range originalNames(parts[i]) {
		// A copy is not what git tracks, whatever it is a copy of.
		if family, _ = familyAt(append(slices.Clone(parts[:i]), original), i); family != nil {
			return family, false
		}
	}
	return nil, false
}

// systemSecret reports the files of a system that hold secrets of its users or of a
// process, our own environment with the model server's key among them.
func systemSecret(parts []string) bool {
	if len(parts) < 2 {
		return false
	}
	switch last := parts[len(parts)-1]; parts[0] {
	case "proc":
		return last == "environ" || last == "mem"
	case "etc":
		return len(parts) == 2 && slices.Contains([]string{"shadow", "shadow-", "gshadow", "gshadow-"}, last)
	}
	return false
}
