package builtin

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/tools"
)

const (
	numbered   = "lines are always numbered"
	ignoredOut = "what .gitignore leaves out cannot be searched this way; use bash"
)

// searchPaths are the names of the directory that is searched.
func searchPaths() map[string]tools.Field {
	return fields(
		all(to("path"), "dir_path", "directory", "directory_path", "dir", "search_path", "search_directory", "folder", "root", "base_path", "cwd",
			"file_path", "file", "target_directory", "absolute_path", "relative_path", "searchRoot"),
		all(mapped("path", theOnly("path")), "paths", "target_directories", "directories"),
	)
}

// globAccepts: glob as other agents call it.
func globAccepts() *tools.Accepts {
	return &tools.Accepts{
		Names: slices.Concat(
			names("find_by_name", "file_search", "find_files", "glob_file_search", "search_files_by_name", "find_path", "glob_search", "fast_find"),
			[]tools.ForeignName{
				{Name: "list_files", When: map[string]string{"recursive": "true"}, Fields: all(to("below"), "path", "directory", "dir_path")},
				{Name: "find_file", Fields: all(mapped("filePattern", anyDepth), "file_name", "filename", "name")},
			},
		),
		Sole: "filePattern",
		Fields: fields(
			searchPaths(),
			all(to("filePattern"), "pattern", "glob", "glob_pattern", "query", "include", "file_glob", "SearchPattern", "name", "name_pattern", "path_pattern"),
			all(mapped("filePattern", theOnly("pattern")), "patterns", "globs"),
			all(to("limit"), "head_limit", "max_results", "limit_results", "result_limit", "max"),
			all(only(ignoredOut, true), "respect_git_ignore", "respect_gitignore", "use_gitignore"),
			all(only(ignoredOut, false), "include_ignored", "no_ignore", "include_hidden", "hidden"),
			all(only("there is one order, by path", "", "name", "path"), "sort", "sort_by"),
			map[string]tools.Field{
				"case_sensitive":  only("names are matched with their case", true),
				"exclude":         only("leave files out with a pattern of what is wanted", ""),
				"Excludes":        only("leave files out with a pattern of what is wanted", ""),
				"exclude_pattern": only("leave files out with a pattern of what is wanted", ""),
				"Extensions":      only("put the extensions into the pattern: **/*.{ts,tsx}", ""),
				"Type":            only("glob finds files", "file", "f"), "MaxDepth": only("put the depth into the pattern: */*"),
				"FullPath": drop("patterns are matched against paths"),
			},
		),
		Finish: finishGlob,
	}
}

// anyDepth is the pattern of a name in any directory.
func anyDepth(value any) (any, error) {
	name, ok := value.(string)
	if !ok || strings.Contains(name, "/") {
		return value, nil
	}
	return "**/" + name, nil
}

// finishGlob puts the directory before the pattern.
func finishGlob(args map[string]any) error {
	below, all := pop(args, "below")
	path, ok := pop(args, "path")
	if all {
		path, ok = below, true
		if args["filePattern"] == nil {
			args["filePattern"] = "**"
		}
	}
	if !ok || path == "" {
		return nil
	}
	dir, isText := path.(string)
	pattern, _ := args["filePattern"].(string)
	if !isText || pattern == "" {
		args["path"] = path // the schema check names it
		return nil
	}
	joined, err := under(dir, pattern)
	if err != nil {
		return err
	}
	args["filePattern"] = joined
	return nil
}

// under is a pattern in a directory. Signs of patterns in the directory's name
// stand for themselves.
func under(dir, pattern string) (string, error) {
	dir = strings.TrimSuffix(filepath.ToSlash(dir), "/")
	if filepath.IsAbs(pattern) || strings.HasPrefix(pattern, "~/") {
		if pattern == dir || strings.HasPrefix(pattern, dir+"/") {
			return pattern, nil
		}
		return "", tools.Errorf(tools.BadInput, "glob: the pattern %q does not lie in %q; give the pattern alone", pattern, dir)
	}
	if dir == "." || dir == "" {
		return strings.TrimPrefix(pattern, "./"), nil
	}
	if strings.HasPrefix(pattern, "../") {
		return "", tools.Errorf(tools.BadInput, "glob: the pattern %q leads out of %q; give the pattern alone", pattern, dir)
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`).Replace(dir) + "/" + strings.TrimPrefix(pattern, "./"), nil
}

// grepAccepts: grep as other agents call it.
func grepAccepts() *tools.Accepts {
	return &tools.Accepts{
		Names: names("grep_search", "search_file_content", "search_files", "codebase_search", "ripgrep", "rg", "search_code", "grep_files", "text_search",
			"search_content", "content_search", "find_in_files", "search_for_pattern", "regex_search", "search_text", "search_in_files"),
		Sole: "pattern",
		Fields: fields(
			searchPaths(),
			all(to("pattern"), "query", "regex", "search_pattern", "search_term", "search_string", "search", "regexp", "text", "search_query", "substring_pattern"),
			all(mapped("pattern", theOnly("pattern")), "patterns"),
			all(mapped("glob", theOnly("glob")), "include", "include_pattern", "file_pattern", "file_glob", "glob_pattern", "includes", "include_glob", "paths_include_glob", "globs"),
			all(mapped("caseSensitive", not), "-i", "ignore_case", "case_insensitive", "i"),
			all(to("caseSensitive"), "case_sensitive", "match_case"),
			all(to("literal"), "fixed_strings", "-F", "fixed_string", "is_literal", "plain"),
			all(mapped("literal", not), "is_regexp", "is_regex", "use_regex"),
			all(drop(numbered), "-n", "line_numbers", "show_line_numbers", "line_number", "n", "with_line_numbers", "-H"),
			all(drop("directories are searched with all that is below them"), "-r", "-R", "recursive"),
			all(drop("patterns are RE2"), "-E", "-P", "extended", "pcre"),
			all(to("after"), "-A", "A", "after_context", "context_after", "lines_after", "after"),
			all(to("before"), "-B", "B", "before_context", "context_before", "lines_before", "before"),
			all(to("context"), "-C", "C", "context", "context_lines", "num_context_lines"),
			all(mapped("mode", grepMode), "output_mode", "mode", "output"),
			all(mapped("mode", flagMode("files_with_matches")), "-l", "files_with_matches", "names_only", "files_only"),
			all(mapped("mode", flagMode("count")), "-c", "count"),
			map[string]tools.Field{"MatchPerLine": mapped("mode", func(v any) (any, error) {
				if v == false || v == "false" {
					return "files_with_matches", nil
				}
				return "content", nil
			})},
			all(to("head_limit"), "head_limit", "limit", "max_results", "max_matches", "result_limit", "total_max_matches", "max"),
			all(mapped("glob", globOfType), "type", "file_type"),
			all(only("patterns are matched within a line", false), "multiline", "-U", "multi_line", "dotall"),
			all(only("write \\b around the word", false), "-w", "word", "whole_word"),
			all(drop("whole lines are shown"), "-o", "only_matching"),
			all(only("only lines that match are found", false), "-v", "invert", "invert_match"),
			all(only(ignoredOut, false), "include_ignored", "include_ignored_files", "no_ignore", "hidden", "include_hidden"),
			all(only(ignoredOut, true), "respect_git_ignore", "respect_gitignore"),
			all(only("leave files out with glob: !*.ext", ""), "exclude_pattern", "exclude", "excludes", "exclude_dirs"),
			all(only("the search starts at the first hit", json.Number("0")), "offset", "skip"),
			map[string]tools.Field{"max_matches_per_file": drop("at most 10 hits of a file are shown"), "sort": drop("hits are sorted by path")},
		),
		Finish: finishGrep,
	}
}

// finishGrep makes one number of the lines around a hit for each side.
func finishGrep(args map[string]any) error {
	context, given := pop(args, "context")
	if n, ok := wholeNumber(context); given && (!ok || n < 0) {
		return tools.Errorf(tools.BadInput, "grep: argument \"context\" must be a whole number, 0 or more")
	}
	for _, side := range []string{"before", "after"} {
		if _, own := args[side]; given && !own {
			args[side] = context
		}
		if n, ok := wholeNumber(args[side]); ok && n == 0 {
			delete(args, side)
		}
	}
	if n, ok := wholeNumber(args["head_limit"]); ok && n == 0 {
		delete(args, "head_limit") // 0 is for no limit but the tool's own
	}
	if args["mode"] == "content" {
		delete(args, "mode")
	}
	for _, name := range []string{"path", "glob"} {
		if args[name] == "" {
			delete(args, name)
		}
	}
	return nil
}

func flagMode(mode string) func(any) (any, error) {
	return func(value any) (any, error) {
		if value == true || value == "true" {
			return mode, nil
		}
		return "content", nil
	}
}

func grepMode(value any) (any, error) {
	switch value {
	case "content", "lines", "text", "default":
		return "content", nil
	case "files_with_matches", "files", "filesWithMatches", "paths", "file_paths", "files_only":
		return "files_with_matches", nil
	case "count", "count_matches", "counts":
		return "count", nil
	}
	return value, nil
}

// globOfType is the pattern of the files of a type as ripgrep names them.
func globOfType(value any) (any, error) {
	name, _ := value.(string)
	if name == "" {
		return nil, nil
	}
	glob, known := map[string]string{
		"c": "*.{c,h}", "cpp": "*.{cpp,cc,cxx,hpp,hh,h,inl}", "cs": "*.cs", "csharp": "*.cs", "css": "*.css", "dart": "*.dart", "elixir": "*.{ex,exs}", "ex": "*.{ex,exs}",
		"go": "*.go", "html": "*.{htm,html}", "java": "*.java", "js": "*.{js,jsx,mjs,cjs,vue}", "javascript": "*.{js,jsx,mjs,cjs}", "json": "*.json", "jsx": "*.jsx",
		"kotlin": "*.{kt,kts}", "kt": "*.{kt,kts}", "lua": "*.lua", "make": "{Makefile,*.mk,makefile,GNUmakefile}", "markdown": "*.{md,markdown,mdx}", "md": "*.{md,markdown,mdx}",
		"php": "*.php", "proto": "*.proto", "py": "*.{py,pyi}", "python": "*.{py,pyi}", "rb": "*.rb", "ruby": "*.rb", "rust": "*.rs", "rs": "*.rs", "scala": "*.{scala,sbt}",
		"sh": "*.{sh,bash,zsh}", "sql": "*.sql", "svelte": "*.svelte", "swift": "*.swift", "toml": "*.toml", "ts": "*.{ts,tsx,mts,cts}", "tsx": "*.tsx", "typescript": "*.{ts,tsx,mts,cts}",
		"txt": "*.txt", "vue": "*.vue", "xml": "*.xml", "yaml": "*.{yaml,yml}", "yml": "*.{yaml,yml}", "zig": "*.zig",
	}[strings.TrimPrefix(strings.ToLower(name), ".")]
	if !known {
		return nil, tools.Errorf(tools.BadInput, "the type %q is not known; give a glob, such as *.ext", name)
	}
	return glob, nil
}
