package builtin

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"acp-agent/tools"
)

func numberOf(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// writeAccepts: write as other agents call it.
func writeAccepts() *tools.Accepts {
	return &tools.Accepts{
		Names: slices.Concat(
			names("create", "fs_create", "write_to_file", "save_file", "new_file", "file_write", "overwrite_file", "create_new_file", "write_text_file"),
			commandOfEditor("create"), commandOfEditor("write"),
		),
		Fields: fields(
			pathNames(), all(to("path"), "absolute_path"),
			all(to("content"), "contents", "text", "file_text", "file_content", "code", "CodeContent", "body", "new_content", "data"),
			map[string]tools.Field{
				"append":      only("write replaces the whole file; to add to it use edit", false),
				"overwrite":   only("write replaces a file that exists; see first whether it does", true),
				"mode":        only("write replaces the whole file; to add to it use edit", "overwrite", "w", "rewrite", "write", "create"),
				"EmptyFile":   only(`give an empty "content"`, false),
				"executable":  only("write makes no file executable; use bash with chmod", false),
				"insert_line": only("write replaces the whole file; to put lines into it use edit"),
			},
			all(only("missing directories are always made", true), "create_directories", "create_dirs", "make_dirs", "create_parent_directories", "create_parents"),
			all(drop("it is counted anew"), "line_count", "lines"),
		),
	}
}

// editAccepts: edit as other agents call it.
func editAccepts() *tools.Accepts {
	const partly = "the whole new text of a file, or a sketch of it, is no edit; give old_str and new_str, or use write"
	oldNames := []string{"old_string", "old_text", "old", "search", "find", "original", "original_text", "old_content", "old_code", "TargetContent", "search_text", "match", "target_content"}
	newNames := []string{"new_string", "new_text", "new", "replace", "replacement", "replace_with", "replacement_text", "updated", "new_content", "new_code", "ReplacementContent", "insert"}
	table := fields(
		pathNames(), all(to("path"), "absolute_path"),
		all(to("replace_all"), "all", "allow_multiple", "global", "replace_all_occurrences"),
		all(to("edits"), "edits", "changes", "replacements", "ReplacementChunks", "operations", "diffs", "edit_list"),
		all(mapped("edits", searchBlocks), "diff"),
		map[string]tools.Field{
			"expected_replacements": to("expected_replacements"), "expected_occurrences": to("expected_replacements"),
			"code_edit": {Refuse: partly}, "file_text": {Refuse: partly}, "content": {Refuse: partly}, "CodeMarkdownLanguage": drop("it makes no difference"),
			"start_line": {Refuse: "an edit is found by its text; give old_str"}, "end_line": {Refuse: "an edit is found by its text; give old_str"},
			"insert_line": {Refuse: "an edit is found by its text; give the line before as old_str, and that line with the new ones as new_str"},
			"use_regex":   only("old_str is plain text", false), "regex": only("old_str is plain text", false), "is_regex": only("old_str is plain text", false),
			"normalize_whitespace": drop("whitespace is forgiven where the match is unique"),
			"TargetLintErrorIds":   drop("it makes no difference"), "Complexity": drop("it makes no difference"),
		},
	)
	for _, name := range oldNames {
		table[name], table["edits[]."+name] = to("old_str"), to("old_str")
	}
	for _, name := range newNames {
		table[name], table["edits[]."+name] = to("new_str"), to("new_str")
	}
	for _, name := range []string{"all", "allow_multiple", "AllowMultiple"} {
		table["edits[]."+name] = to("replace_all")
	}
	for _, name := range []string{"explanation", "description", "StartLine", "EndLine"} {
		table["edits[]."+name] = drop("an edit is found by its text")
	}
	return &tools.Accepts{
		Names: slices.Concat(
			names("str_replace", "search_replace", "search_and_replace", "replace", "MultiEdit", "multi_edit", "replace_in_file", "apply_diff", "string_replace",
				"update_file", "update", "modify_file", "edit_block", "edit_text_file", "replace_string_in_file", "replace_file_content", "multi_replace_file_content",
				"multi_edit_file", "file_edit", "StrReplace", "edit_file_content", "patch_file"),
			commandOfEditor("str_replace"), commandOfEditor("replace"), commandOfEditor("edit"),
			answers("use edit: the line before as old_str, and that line with the new ones as new_str", "insert_edit_into_file", "insert_content", "insert_line"),
			answeringEditor("insert", "use edit: the line before as old_str, and that line with the new ones as new_str"),
			answers("a notebook is changed like any file: with edit or write on its JSON", "NotebookEdit", "notebook_edit", "edit_notebook_file"),
		),
		Fields: table,
		Finish: finishEdit,
	}
}

func answeringEditor(command, words string) []tools.ForeignName {
	list := commandOfEditor(command)
	for i := range list {
		list[i].Answer = words
	}
	return list
}

// finishEdit leaves out what says nothing next to a list of edits.
func finishEdit(args map[string]any) error {
	if count, ok := args["expected_replacements"]; ok {
		if n, isNumber := wholeNumber(count); isNumber && n == 1 {
			delete(args, "expected_replacements")
		}
	}
	if text, ok := args["edits"].(string); ok {
		var list any
		if json.Unmarshal([]byte(text), &list) == nil {
			args["edits"] = list
		}
	}
	if _, several := args["edits"]; several {
		for _, name := range []string{"old_str", "new_str"} {
			if text, ok := args[name].(string); ok && text == "" {
				delete(args, name) // beside a list, an empty text says nothing
			}
		}
		if args["old_str"] != nil || args["new_str"] != nil {
			return tools.Errorf(tools.BadInput, `edit: give "edits", or "old_str" and "new_str", not both`)
		}
		if args["replace_all"] == false {
			delete(args, "replace_all")
		}
	}
	return nil
}

// searchBlocks reads blocks of SEARCH and REPLACE, as several agents write edits.
func searchBlocks(value any) (any, error) {
	text, ok := value.(string)
	if !ok {
		return value, nil
	}
	var list []any
	var old, new []string
	state := 0 // 0 outside, 1 in the old text, 2 in the new one
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		mark := strings.TrimRight(line, " \t>")
		switch {
		case state == 0 && (mark == "<<<<<<< SEARCH" || mark == "------- SEARCH"):
			state, old, new = 1, nil, nil
		case state == 1 && len(old) == 0 && strings.HasPrefix(line, ":start_line:"), state == 1 && len(old) == 0 && line == "-------":
		case state == 1 && mark == "=======":
			state = 2
		case state == 2 && (strings.HasPrefix(line, ">>>>>>> REPLACE") || strings.HasPrefix(line, "+++++++ REPLACE")):
			list = append(list, map[string]any{"old_str": strings.Join(old, "\n"), "new_str": strings.Join(new, "\n")})
			state = 0
		case state == 1:
			old = append(old, line)
		case state == 2:
			new = append(new, line)
		case strings.TrimSpace(line) != "":
			return nil, errBlocks
		}
	}
	if state != 0 || len(list) == 0 {
		return nil, errBlocks
	}
	return list, nil
}

var errBlocks = tools.Errorf(tools.BadInput, "it is not made of whole blocks of SEARCH and REPLACE; give old_str and new_str, or use apply_patch")
