package builtin

import (
	"encoding/json"
	"slices"

	"acp-agent/tools"
)

const allListed = "all entries are listed"

// readAccepts: read as other agents call it, and their tools that list or view.
func readAccepts() *tools.Accepts {
	return &tools.Accepts{
		Names: slices.Concat(
			names("view", "view_file", "open_file", "open", "cat", "get_file_contents", "read_files", "read_many_files", "read_text_file", "file_read", "fs_read", "view_line_range", "read_multiple_files"),
			listing("ReadFolder", "LS", "ls", "list", "list_dir", "list_files", "list_directory_contents", "listDirectory"),
			commandOfEditor("view"), commandOfEditor("Line"),
		),
		Sole: "path",
		Fields: fields(
			pathNames(),
			all(to("path"), "directory", "directory_path", "dir_path", "dir", "folder", "notebook_path", "image_path", "target_directory", "url_or_path"),
			// The agents that call it so count offset from 0.
			map[string]tools.Field{"absolute_path": to("absolute_path")},
			all(to("offset"), "offset", "line_offset"),
			all(to("limit"), "limit", "line_limit", "lines_limit", "n_lines", "num_lines", "max_lines", "line_count", "line_limit"),
			all(to("start_line"), "start_line", "line_start", "start", "from_line", "start_line_one_indexed", "StartLine", "begin_line", "start_line_number"),
			all(to("end_line"), "end_line", "line_end", "end", "to_line", "end_line_one_indexed_inclusive", "end_line_one_indexed", "EndLine", "end_line_number_base_one"),
			all(to("view_range"), "view_range", "line_range", "range"),
			map[string]tools.Field{
				"start_line_number_base_one": to("start_line"), "start_line_number_base_zero": mapped("start_line", oneMore),
				"end_line_number_base_zero": mapped("end_line", oneMore),
				"line_number":               {Refuse: "give read_range"},
			},
			all(to("whole"), "should_read_entire_file", "read_entire_file"),
			all(drop("lines are always numbered"), "show_line_numbers", "with_lines", "line_numbers", "include_line_numbers", "numbered"),
			all(drop(allListed), "ignore", "show_hidden", "all", "include_hidden", "file_filtering_options", "respect_git_ignore", "respect_gitignore", "long"),
			map[string]tools.Field{
				"pages":                          only("read shows no pages of documents", ""),
				"tail":                           only("there is no tail; give read_range", false),
				"recursive":                      only("a directory is listed on its own; for what is below it use glob with **/*", false),
				"depth":                          only("a directory is listed on its own; for what is below it use glob with **/*", json.Number("1"), json.Number("0")),
				"byte_offset":                    only("give byte_range", json.Number("0")),
				"byte_length":                    only("give byte_range"),
				"IsSkillFile":                    drop("it makes no difference"),
				"allow_large":                    drop("what is shown is bounded by the agent"),
				"include_summary_of_other_lines": drop("only the lines asked for are shown"),
			},
		),
		Finish: finishRead,
	}
}

// listing are names of tools that list a directory, the working directory when there
// is none.
func listing(list ...string) []tools.ForeignName {
	all := names(list...)
	for i := range all {
		all[i].Alone = json.RawMessage(`{"path":"."}`)
	}
	return all
}

// oneMore makes of a line that is counted from 0 one that is counted from 1; -1 is the
// last line in both.
func oneMore(value any) (any, error) {
	number, ok := wholeNumber(value)
	switch {
	case !ok:
		return value, nil
	case number < 0:
		return numberOf(number), nil
	}
	return numberOf(number + 1), nil
}

// finishRead makes a range of lines of what other agents say instead.
func finishRead(args map[string]any) error {
	zeroBased := false
	if path, ok := pop(args, "absolute_path"); ok {
		if has, both := args["path"]; both && has != path {
			return tools.Errorf(tools.BadInput, `read: "absolute_path" and "path" were given different values`)
		}
		args["path"], zeroBased = path, true
	}
	entire, _ := pop(args, "whole")
	if err := finishRange(args, zeroBased); err != nil {
		return err
	}
	if entire == true || entire == "true" {
		args["read_range"] = []any{json.Number("1"), json.Number("2000")}
	}
	return nil
}

// finishRange turns the forms in which other agents give a range of lines into read_range.
func finishRange(args map[string]any, zeroBased bool) error {
	if err := splitViewRange(args); err != nil {
		return err
	}
	given := map[string]int64{}
	for _, name := range []string{"offset", "limit", "start_line", "end_line"} {
		n, has, err := popWhole("read", args, name)
		if err != nil {
			return err
		}
		if has {
			given[name] = n
		}
	}
	offset, hasOffset := given["offset"]
	limit, hasLimit := given["limit"]
	start, hasStart := given["start_line"]
	end, hasEnd := given["end_line"]
	switch {
	case !hasOffset && !hasLimit && !hasStart && !hasEnd:
		return nil
	case args["read_range"] != nil || args["byte_range"] != nil || hasOffset && hasStart || hasLimit && hasEnd:
		return tools.Errorf(tools.BadInput, `read: the lines are given twice; give "read_range" alone`)
	case offset < 0 || start < 0:
		return tools.Errorf(tools.BadInput, `read: lines are counted from the start of the file; give "read_range"`)
	case hasLimit && limit < 1:
		return tools.Errorf(tools.BadInput, `read: argument "limit" must be 1 or more`)
	}
	first := max(offset, start, 1)
	if zeroBased && hasOffset {
		first = offset + 1
	}
	last := first + defaultLines - 1
	switch {
	case hasLimit:
		last = first + limit - 1
	case hasEnd && end < 0:
		last = first + maxLines - 1
	case hasEnd:
		last = end
	}
	args["read_range"] = []any{numberOf(first), numberOf(last)}
	return nil
}

// splitViewRange turns view_range, a list of two lines, into start_line and end_line.
func splitViewRange(args map[string]any) error {
	pair, ok := pop(args, "view_range")
	if !ok {
		return nil
	}
	list, isList := pair.([]any)
	if text, isText := pair.(string); isText {
		isList = json.Unmarshal([]byte(text), &list) == nil
	}
	if !isList || len(list) != 2 {
		return tools.Errorf(tools.BadInput, `read: argument "view_range" must be [first line, last line]`)
	}
	args["start_line"], args["end_line"] = number64(list[0]), number64(list[1])
	return nil
}

func number64(value any) any {
	if f, ok := value.(float64); ok {
		return numberOf(int64(f))
	}
	return value
}
