package subagent

import (
	"embed"
	"io/fs"
	"path"
	"sync"
)

//go:embed builtin/*.md
var shipped embed.FS

// shippedOrder is the order in which the shipped agents are listed.
var shippedOrder = []string{
	"general", "explore", "plan", "finder", "oracle", "librarian", "kraken", "title", "summary", "compaction",
}

// builtins parses the shipped manifests once, with the same parser as the user's manifests.
var builtins = sync.OnceValues(func() ([]Manifest, error) {
	var list []Manifest
	for _, name := range shippedOrder {
		text, err := fs.ReadFile(shipped, path.Join("builtin", name+".md"))
		if err != nil {
			return nil, err
		}
		m, err := ParseManifest("builtin/"+name+".md", text)
		if err != nil {
			return nil, err
		}
		m.Origin, m.File = Builtin, ""
		list = append(list, m)
	}
	return list, nil
})
