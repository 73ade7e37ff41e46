package builtin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"acp-agent/tools"
)

// todoAccepts: todo as other agents call it.
func todoAccepts() *tools.Accepts {
	const wholeList = "the list is always replaced as a whole; send all of its items"
	table := fields(
		all(mapped("todos", checklist), "todos", "plan", "todo_list", "tasks", "items", "steps", "task_list", "todo", "list"),
		map[string]tools.Field{
			"merge":   only(wholeList, false),
			"command": only(wholeList, "plan", "write", "set", "create"), "action": only(wholeList, "write", "set", "update", "create", "replace"),
			"mode": only(wholeList, "replace", "overwrite", "write", "create"), "operation": only(wholeList, "write", "set", "replace"),
			"name": drop("the list has no name"), "title": drop("the list has no name"), "summary": drop("the list has no name"),
		},
		all(to("content"), "todos[].task", "todos[].title", "todos[].text", "todos[].description", "todos[].step", "todos[].name", "todos[].item", "todos[].todo", "todos[].subject"),
		all(to("status"), "todos[].state"),
		all(drop("items are told apart by their text"), "todos[].id", "todos[].notes", "todos[].note", "todos[].dependencies", "todos[].order", "todos[].index", "todos[].number"),
	)
	table["todos[].done"] = mapped("status", doneStatus)
	table["todos[].completed"] = mapped("status", doneStatus)
	return &tools.Accepts{
		Names: slices.Concat(
			names("update_plan", "todowrite", "write_todos", "update_todo_list", "manage_todo_list", "set_todo_list", "task_tracker", "TodoList", "update_todos", "SetTodoList",
				"todo_list", "manage_todos", "plan_update"),
			answers("todo keeps the list: send the whole list in each call. What it holds stands in your last call of it",
				"todoread", "TodoRead", "read_todos", "TaskCreate", "TaskUpdate", "TaskGet", "todo_read", "TaskList"),
		),
		Fields: table,
		Finish: finishTodo,
	}
}

func doneStatus(value any) (any, error) {
	done, err := not(value)
	if done == false && err == nil {
		return todoCompleted, nil
	}
	return todoPending, err
}

// statuses are other words for the states of an item. An item that was given up is
// no longer to be done, and leaves the list.
var statuses = map[string]string{
	"done": todoCompleted, "complete": todoCompleted, "finished": todoCompleted, "x": todoCompleted,
	"todo": todoPending, "not_started": todoPending, "open": todoPending, "waiting": todoPending, "blocked": todoPending, "": todoPending,
	"active": todoActive, "doing": todoActive, "started": todoActive, "current": todoActive, "running": todoActive,
	"cancelled": "", "canceled": "", "skipped": "", "removed": "",
}

func finishTodo(args map[string]any) error {
	if text, ok := args["todos"].(string); ok {
		list, err := checklist(text)
		if err != nil {
			return tools.Errorf(tools.BadInput, "todo: argument \"todos\": %v", err)
		}
		args["todos"] = list
	}
	if one, ok := args["todos"].(map[string]any); ok {
		args["todos"] = []any{one}
	}
	list, _ := args["todos"].([]any)
	var kept []any
	for _, item := range list {
		if text, ok := item.(string); ok {
			parsed := any(nil)
			if json.Unmarshal([]byte(text), &parsed) != nil || parsed == nil {
				parsed = map[string]any{"content": text, "status": todoPending}
			}
			item = parsed
		}
		object, ok := item.(map[string]any)
		if ok && !keepTodo(object) {
			continue
		}
		kept = append(kept, item)
	}
	if list != nil {
		args["todos"] = append([]any{}, kept...)
	}
	return nil
}

// keepTodo gives an item the words of the schema; false means that it leaves the list.
func keepTodo(item map[string]any) bool {
	for _, name := range []string{"status", "state"} {
		status, ok := item[name].(string)
		word := strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(status)))
		if own, known := statuses[word]; ok && known {
			if own == "" {
				return false
			}
			item[name] = own
		}
	}
	if priority, ok := item["priority"].(string); ok {
		switch strings.ToLower(priority) {
		case "normal", "med", "p1":
			item["priority"] = "medium"
		case "critical", "urgent", "p0":
			item["priority"] = "high"
		case "p2", "p3":
			item["priority"] = "low"
		}
	}
	return true
}

// checklist reads a list as Markdown has it, one item a line.
func checklist(value any) (any, error) {
	text, ok := value.(string)
	if !ok {
		return value, nil
	}
	var parsed any
	if json.Unmarshal([]byte(text), &parsed) == nil {
		return parsed, nil
	}
	marks := map[string]string{"[ ]": todoPending, "[]": todoPending, "[x]": todoCompleted, "[X]": todoCompleted, "[-]": todoActive, "[~]": todoActive, "[>]": todoActive}
	var list []any
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "-*"))
		if line == "" {
			continue
		}
		end := strings.IndexByte(line, ']')
		status, known := "", false
		if end >= 0 {
			status, known = marks[line[:end+1]]
		}
		if !known {
			return nil, fmt.Errorf("must be a list of items with content and status")
		}
		list = append(list, map[string]any{"content": strings.TrimSpace(line[end+1:]), "status": status})
	}
	return list, nil
}

// taskAccepts: task as other agents call it.
func taskAccepts() *tools.Accepts {
	return &tools.Accepts{
		Names: names("agent", "dispatch_agent", "subagent", "spawn_agent", "delegate", "run_subagent", "delegate_task", "launch_agent", "new_task", "call_omo_agent"),
		Fields: fields(
			all(mapped("subagent_type", agentName), "subagent_type", "agent_type", "agent_name", "agent", "subagent", "type", "subagent_name", "role"),
			all(to("prompt"), "prompt", "message", "task", "instructions", "task_prompt", "query", "input"),
			all(to("background"), "run_in_background", "is_background"),
			all(drop("the subagent has the model that its own settings say"), "model", "max_turns", "maxTurns", "thoroughness", "effort"),
			all(drop("a subagent works in the mode of the session"), "mode"),
			all(only("a subagent that has ended is not taken up again; start a new one with all that it needs", "", json.Number("0")), "resume", "task_id", "session_id", "agent_id"),
			all(drop("it makes no difference"), "name", "command", "title", "run_name", "team_name"),
			all(only("name a subagent that only reads in subagent_type, such as explore", false), "readonly"),
			all(only("subagents work in the same directory", ""), "isolation", "cwd", "workdir"),
			all(drop("skills are found by the subagent itself"), "load_skills"),
		),
		Finish: func(args map[string]any) error {
			if name, ok := args["subagent_type"].(string); ok {
				own, err := agentName(name)
				args["subagent_type"] = own
				return err
			}
			return nil
		},
	}
}

// agentName is our name of a subagent that most agents have.
func agentName(value any) (any, error) {
	name, _ := value.(string)
	switch strings.ToLower(strings.NewReplacer("_", "-", " ", "-").Replace(name)) {
	case "general-purpose", "generalist", "default", "worker", "coder":
		return generalSubagent, nil
	case "explore", "explorer", "general", "plan":
		return strings.TrimSuffix(strings.ToLower(name), "r"), nil
	}
	return value, nil
}

// questionAccepts: question as other agents call it.
func questionAccepts() *tools.Accepts {
	return &tools.Accepts{
		Names: slices.Concat(
			names("AskUserQuestion", "ask_followup_question", "ask_user", "ask_question", "ask", "ask_questions", "AskQuestion", "request_user_input", "ask_user_question", "clarify"),
			answers("there is no tool for that: what you say last is the answer, and the turn ends with it", "attempt_completion", "finish", "task_complete", "submit", "complete_task", "done",
				"message_notify_user", "final_answer", "StructuredOutput"),
			answers("think without a tool, and go on", "think", "sequentialthinking", "sequential_thinking"),
			answers("the user changes modes", "EnterPlanMode", "switch_mode"),
			answers("commands that begin with a slash are the user's", "SlashCommand"),
			answers("each MCP server with resources has a tool read_resource of its own, which lists them too; tool_search finds it",
				"ListMcpResourcesTool", "ReadMcpResourceTool", "ListMcpResources", "ReadMcpResource", "list_mcp_resources", "access_mcp_resource"),
		),
		Fields: fields(
			all(to("question"), "question", "prompt", "message", "query", "text"),
			all(to("options"), "options", "follow_up", "choices", "suggestions", "answers_to_choose"),
			all(to("multi"), "multi_select", "multiple", "allow_multiple", "is_multiple"),
			all(drop("answers come from the user"), "answers", "metadata", "annotations", "title"),
			all(to("multi_select"), "questions[].multi_select", "questions[].multiple", "questions[].allow_multiple"),
			all(to("question"), "questions[].prompt", "questions[].text", "questions[].title", "questions[].q"),
			all(to("options"), "questions[].choices", "questions[].answers"),
			all(drop("it makes no difference"), "questions[].id", "questions[].type", "questions[].custom", "questions[].placeholder", "questions[].required", "questions[].isOther",
				"questions[].options[].preview", "questions[].options[].id", "questions[].options[].recommended", "questions[].options[].mode"),
			all(to("label"), "questions[].options[].text", "questions[].options[].value", "questions[].options[].title", "questions[].options[].name"),
		),
		Finish: finishQuestion,
	}
}

// finishQuestion makes a list of one question, and labels of options that are texts.
func finishQuestion(args map[string]any) error {
	if text, ok := args["questions"].(string); ok {
		var parsed any
		if json.Unmarshal([]byte(text), &parsed) == nil {
			args["questions"] = parsed
		}
	}
	if err := singleQuestion(args); err != nil {
		return err
	}
	if one, ok := args["questions"].(map[string]any); ok {
		args["questions"] = []any{one}
	}
	list, _ := args["questions"].([]any)
	for i, item := range list {
		if text, ok := item.(string); ok {
			item = map[string]any{"question": text}
			list[i] = item
		}
		question, _ := item.(map[string]any)
		for _, key := range []string{"options", "choices"} {
			labelOptions(question, key)
		}
	}
	return nil
}

// singleQuestion makes the list of a question whose parts are arguments of their own.
func singleQuestion(args map[string]any) error {
	question, ok := args["question"]
	if !ok {
		return nil
	}
	if args["questions"] != nil {
		return tools.Errorf(tools.BadInput, `question: give "questions" alone`)
	}
	single := map[string]any{"question": question}
	for from, to := range map[string]string{"options": "options", "multi": "multi_select", "header": "header"} {
		if value, given := pop(args, from); given {
			single[to] = value
		}
	}
	delete(args, "question")
	args["questions"] = []any{single}
	return nil
}

// labelOptions gives options of a question that are texts the form of an option.
func labelOptions(question map[string]any, key string) {
	options := question[key]
	if text, ok := options.(string); ok {
		var parsed []any
		if json.Unmarshal([]byte(text), &parsed) == nil {
			options, question[key] = parsed, parsed
		}
	}
	choices, _ := options.([]any)
	for n, option := range choices {
		if text, ok := option.(string); ok {
			choices[n] = map[string]any{"label": text}
		}
	}
}

// fetchAccepts: web_fetch as other agents call it.
func fetchAccepts() *tools.Accepts {
	return &tools.Accepts{
		Names: names("WebFetch", "fetch", "fetch_url", "read_url_content", "url_fetch", "fetch_webpage", "web_read", "browse", "http_get", "fetch_url_content", "read_url", "get_url", "webfetch", "fetch_web_page"),
		Sole:  "url",
		Fields: fields(
			all(to("url"), "uri", "link", "address", "href", "page_url", "website", "target_url"),
			all(mapped("url", theOnly("url")), "urls"),
			all(drop("you get the page itself, without a summary"), "prompt", "query", "instruction", "question", "objective", "summarize"),
			all(only("the page comes as text", "markdown", "text", "md", "html"), "format", "output_format"),
			all(only("a page is only fetched", "GET", "get"), "method"),
			all(only("nothing of one's own is sent with the request", ""), "headers", "body", "data", "cookies"),
			all(only("a page comes from its start", json.Number("0")), "start_index", "offset"),
			all(drop("the page is bounded by the agent"), "max_length", "max_chars", "max_tokens", "max_bytes"),
			all(only("the page comes as text", false), "raw", "screenshot"),
		),
	}
}

// webSearchAccepts: web_search as other agents call it.
func webSearchAccepts() *tools.Accepts {
	return &tools.Accepts{
		Names: names("google_web_search", "search_web", "web_search_exa", "brave_search", "google_search", "internet_search", "duckduckgo_search", "websearch"),
		Sole:  "query",
		Fields: fields(
			all(to("query"), "query", "q", "search_term", "search_query", "keywords", "search"),
			all(mapped("query", theOnly("query")), "queries"),
			all(to("max_results"), "num_results", "count", "limit", "n", "top_k", "max_results"),
			all(only("name the sites in the query: site:example.com", ""), "allowed_domains", "blocked_domains", "domain", "site"),
			all(drop("the provider decides it"), "livecrawl", "type", "context_max_characters", "search_context_size"),
		),
	}
}

// patchAccepts: apply_patch as other agents call it.
func patchAccepts() *tools.Accepts {
	return &tools.Accepts{
		Names: names("patch", "apply_diff_patch", "applypatch"),
		Sole:  "patch", Freeform: "*** Begin Patch",
		Fields: fields(all(mapped("patch", patchCommand), "command", "cmd"), all(to("patch"), "patch", "patch_text", "patch_content", "content", "text", "unified_diff", "patch_string")),
	}
}

// patchCommand takes the patch out of the command that would apply it.
func patchCommand(value any) (any, error) {
	if list, ok := value.([]any); ok && len(list) == 2 && list[0] == "apply_patch" {
		return list[1], nil
	}
	return nil, fmt.Errorf("give the patch alone, as \"patch\"")
}

// lspAccepts: lsp as other agents call it.
func lspAccepts() *tools.Accepts {
	return &tools.Accepts{
		Fields: fields(
			pathNames(),
			all(to("column"), "character", "col"),
			all(to("operation"), "action", "command"),
		),
		Finish: func(args map[string]any) error {
			switch args["operation"] {
			case "goToDefinition", "definition", "go_to_definition", "textDocument/definition":
				args["operation"] = tools.Definitions
			case "findReferences", "find_references", "textDocument/references":
				args["operation"] = tools.References
			}
			return nil
		},
	}
}

// pathAccepts is for tools with one path and nothing to map besides.
func pathAccepts(list ...string) *tools.Accepts {
	return &tools.Accepts{Names: names(list...), Sole: "path", Fields: fields(pathNames(), all(to("path"), "absolute_path"))}
}
