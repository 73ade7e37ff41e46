package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	// maxID is the most that providers of models take as the name of a tool.
	maxID = 64
	// maxServer leaves the names of tools some room.
	maxServer = 24
	// hashDigits are the hexadecimal digits that stand in for what was lost.
	hashDigits = 8

	idPrefix = "mcp__"
)

// serverID is what stands for a server's name in ids and rules (R89). A name that is plain
// already stays as it is; of any other a hash is kept, so that two never become one.
func serverID(name string) string {
	id := strings.Trim(plain(name), "_-")
	for strings.Contains(id, "__") { // it separates server and tool
		id = strings.ReplaceAll(id, "__", "_")
	}
	if id == name && id != "" && len(id) <= maxServer {
		return id
	}
	return hashed(id, maxServer, name)
}

// IsTool reports whether a tool id is one of a server's tools.
func IsTool(id string) bool { return strings.HasPrefix(id, idPrefix) }

// toolID is the id of a server's tool: mcp__server__tool (R89).
func toolID(server, tool string) string {
	head := idPrefix + server + "__"
	if plain(tool) == tool && tool != "" && len(head)+len(tool) <= maxID {
		return head + tool
	}
	return head + hashed(plain(tool), maxID-len(head), tool)
}

// plain replaces what providers do not take in a name.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}

// hashed cuts an id to most bytes, of which the end tells what it was made of.
func hashed(id string, most int, of string) string {
	sum := sha256.Sum256([]byte(of))
	if room := most - hashDigits - 1; len(id) > room {
		id = id[:room]
	}
	if id = strings.TrimRight(id, "_"); id == "" {
		id = "x"
	}
	return id + "_" + hex.EncodeToString(sum[:])[:hashDigits]
}
