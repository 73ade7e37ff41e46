package builtin

import (
	"path"
	"strings"
	"sync"
)

// otherLanguage counts the files whose extension is not known.
const otherLanguage = "other"

// languageOf names the language of a file by its name: "" for files that are in
// none, such as LICENSE, go.mod and what a package manager has locked.
func languageOf(name string) string {
	base := strings.ToLower(path.Base(name))
	ext := strings.TrimPrefix(path.Ext(strings.TrimPrefix(base, ".")), ".")
	if ext == "" || isLockFile(base) {
		return ""
	}
	if language := languagesByExtension()[ext]; language != "" {
		return language
	}
	if isKeyFile(name) {
		return ""
	}
	return otherLanguage
}

func isLockFile(base string) bool {
	switch base {
	case "go.sum", "go.work.sum", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "bun.lockb", "gradle.lockfile", "package.resolved":
		return true
	}
	return strings.HasSuffix(base, ".lock")
}

var languagesByExtension = sync.OnceValue(func() map[string]string {
	byExtension := map[string]string{}
	for _, language := range []struct{ name, extensions string }{
		{"Go", "go"},
		{"Python", "py pyi"},
		{"JavaScript", "js jsx mjs cjs"},
		{"TypeScript", "ts tsx mts cts"},
		{"Rust", "rs"},
		{"C", "c h"},
		{"C++", "cc cpp cxx hh hpp hxx"},
		{"C#", "cs"},
		{"Java", "java"},
		{"Kotlin", "kt kts"},
		{"Swift", "swift"},
		{"Objective-C", "m mm"},
		{"Ruby", "rb"},
		{"PHP", "php"},
		{"Scala", "scala"},
		{"Dart", "dart"},
		{"Elixir", "ex exs"},
		{"Haskell", "hs"},
		{"Lua", "lua"},
		{"Perl", "pl pm"},
		{"R", "r"},
		{"Zig", "zig"},
		{"Shell", "sh bash zsh fish"},
		{"PowerShell", "ps1"},
		{"SQL", "sql"},
		{"HTML", "html htm"},
		{"CSS", "css scss less"},
		{"Vue", "vue"},
		{"Svelte", "svelte"},
		{"Markdown", "md markdown"},
		{"JSON", "json jsonl"},
		{"YAML", "yml yaml"},
		{"TOML", "toml"},
		{"XML", "xml"},
		{"Protocol Buffers", "proto"},
		{"Terraform", "tf"},
		{"Nix", "nix"},
	} {
		for ext := range strings.FieldsSeq(language.extensions) {
			byExtension[ext] = language.name
		}
	}
	return byExtension
})
