package permissions

import (
	"slices"

	"acp-agent/internal/pathname"
)

// Protection says how far a name is kept from the agent's own writing (P5).
type Protection uint8

// The degrees of protection.
const (
	Unprotected   Protection = iota
	ProtectedAsk             // always asked, in every mode; "always" is never offered
	ProtectedDeny            // never written by a tool
)

// ownNames are the directory names under which the agent keeps what governs it.
const (
	ownProjectDir = ".acp-agent"
	ownUserDir    = "acp-agent"
)

// Protected reports whether writing to the path is asked each time or refused, whether
// or not it exists yet (P5). It goes by the names of the components, folded as for
// denies; own adds absolute directories of the agent that lie elsewhere.
func Protected(path string, own ...string) Protection {
	parts := components(path)
	if ownPart(parts) {
		return ProtectedDeny
	}
	for _, dir := range own {
		base := components(dir)
		if len(base) > 0 && len(parts) >= len(base) && slices.Equal(parts[:len(base)], base) {
			return ProtectedDeny
		}
	}
	if why, _ := protectedNames().find(parts); why != "" {
		return ProtectedAsk
	}
	return Unprotected
}

// ownPart finds the agent's directories: the project's by its name anywhere, the
// user's below the customary parents, so a checkout named like the agent stays free.
func ownPart(parts []string) bool {
	for i, part := range parts {
		if part == ownProjectDir {
			return true
		}
		if part != ownUserDir || i == 0 {
			continue
		}
		switch parts[i-1] {
		case ".config", "application support", "roaming", "preferences", "xdg-config":
			return true
		case "share", "state":
			if i > 1 && parts[i-2] == ".local" {
				return true
			}
		case "local":
			if i > 1 && parts[i-2] == "appdata" {
				return true
			}
		}
	}
	return false
}

// protectionOf judges a path resource under all its names. The session's scratch
// directory may lie among the agent's own files and stays writable there.
func protectionOf(call Call, r Resource) (Protection, string) {
	worst, which := Unprotected, ""
	for _, name := range r.all() {
		p := Protected(name, call.Own...)
		if p == ProtectedDeny && inScratch(call, r.Name) {
			p = Unprotected
		}
		if p > worst {
			worst, which = p, name
		}
	}
	switch worst {
	case ProtectedDeny:
		return worst, which + " belongs to the agent's own configuration and is never written by a tool"
	case ProtectedAsk:
		why, _ := protectedNames().find(components(which))
		return worst, which + " " + why + ", so writing it is always asked"
	default:
		return worst, ""
	}
}

func inScratch(call Call, name string) bool {
	for _, dir := range call.Vars[VarScratch] {
		if pathname.Contains(slash(dir), slash(name)) {
			return true
		}
	}
	return false
}
