package builtin

import (
	"path"
	"strings"
	"sync"

	"acp-agent/kinds"
)

// languageOf names the language of a file by its name, "" when that says
// nothing. What is not known goes by its extension.
func languageOf(name string) string {
	base := strings.ToLower(path.Base(name))
	switch base {
	case "makefile", "gnumakefile":
		return "Make"
	case "dockerfile":
		return "Docker"
	}
	ext := strings.TrimPrefix(path.Ext(strings.TrimPrefix(base, ".")), ".")
	if language := languagesByExtension()[ext]; language != "" {
		return language
	}
	if ext == "" || len(ext) > 12 {
		return ""
	}
	return "." + kinds.Line(ext, overviewName)
}

var languagesByExtension = sync.OnceValue(func() map[string]string {
	byExtension := map[string]string{}
	for _, language := range []struct{ name, extensions string }{
		{"Go", "go"}, {"Python", "py pyi"}, {"JavaScript", "js jsx mjs cjs"}, {"TypeScript", "ts tsx mts cts"},
		{"Rust", "rs"}, {"C", "c h"}, {"C++", "cc cpp cxx hh hpp hxx"}, {"C#", "cs"}, {"Java", "java"}, {"Kotlin", "kt kts"},
		{"Swift", "swift"}, {"Objective-C", "m mm"}, {"Ruby", "rb"}, {"PHP", "php"}, {"Scala", "scala"}, {"Dart", "dart"},
		{"Elixir", "ex exs"}, {"Haskell", "hs"}, {"Lua", "lua"}, {"Perl", "pl pm"}, {"R", "r"}, {"Zig", "zig"},
		{"Shell", "sh bash zsh fish"}, {"PowerShell", "ps1"}, {"SQL", "sql"}, {"HTML", "html htm"}, {"CSS", "css scss less"},
		{"Vue", "vue"}, {"Svelte", "svelte"}, {"Markdown", "md markdown"}, {"JSON", "json jsonl"}, {"YAML", "yml yaml"},
		{"TOML", "toml"}, {"XML", "xml"}, {"Protocol Buffers", "proto"}, {"Terraform", "tf"}, {"Nix", "nix"},
	} {
		for ext := range strings.FieldsSeq(language.extensions) {
			byExtension[ext] = language.name
		}
	}
	return byExtension
})
