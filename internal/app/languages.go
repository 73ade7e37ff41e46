package app

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/lsp"
)

// languageServers are the configured language servers before the shipped ones.
// An extension that is configured is not a shipped server's any more.
func languageServers(configured map[string][]string) []lsp.Server {
	var list []lsp.Server
	for _, ext := range slices.Sorted(maps.Keys(configured)) {
		argv := configured[ext]
		if len(argv) == 0 {
			continue
		}
		list = append(list, lsp.Server{
			Name: filepath.Base(argv[0]), Argv: argv,
			Languages: map[string]string{strings.ToLower(ext): languageOf(ext)},
		})
	}
	for _, server := range lsp.DefaultServers() {
		server.Languages = maps.Clone(server.Languages)
		for ext := range configured {
			delete(server.Languages, strings.ToLower(ext))
		}
		list = append(list, server)
	}
	return list
}

// languageOf is the protocol's name of the language of an extension.
func languageOf(ext string) string {
	ext = strings.ToLower(ext)
	for _, server := range lsp.DefaultServers() {
		if name := server.Languages[ext]; name != "" {
			return name
		}
	}
	return strings.TrimPrefix(ext, ".")
}
