package kinds

import (
	"slices"
	"strings"
)

// row is one line of requirements section C: the kind of a tool, its label
// while the arguments are still streaming in, and how its title is made.
type row struct {
	id    string
	kind  Kind
	label string
	title titler
}

// The thirteen locked ids stand first, in the order of R3; extension and
// subagent tools follow. A tool that is not listed is Other.
var table = []row{
	{"read", Read, "Read file", pathTitle("Read")},
	{"write", Edit, "Write file", pathTitle("Write")},
	{"edit", Edit, "Edit file", pathTitle("Edit")},
	{"glob", Search, "Find files", argTitle("Find", "filePattern")},
	{"grep", Search, "Search", grepTitle},
	{"bash", Execute, "Run command", commandTitle},
	{"todo", Other, "Update plan", nil},
	{"task", Other, "Delegate task", taskTitle},
	{"question", Other, "Ask a question", nil},
	{"web_search", Fetch, "Search the web", argTitle("Search the web for", "query")},
	{"web_fetch", Fetch, "Fetch page", argTitle("Fetch", "url")},
	{"skill", Think, "Load skill", argTitle("Load skill", "name")},
	{"tool_search", Search, "Find tools", argTitle("Find tools for", "query")},

	{"apply_patch", Edit, "Apply patch", patchTitle},
	{"undo_edit", Edit, "Undo edit", pathTitle("Undo edit of")},
	{"delete_file", Delete, "Delete file", pathTitle("Delete")},
	{"format_file", Edit, "Format file", pathTitle("Format")},
	{"lsp", Search, "Ask language server", lspTitle},
	{"repo_clone", Fetch, "Clone repository", argTitle("Clone", "url")},
	{"repo_overview", Read, "Survey repository", pathTitle("Survey")},
	{"plan", Think, "Plan", nil},
	{"plan_exit", SwitchMode, "Leave plan mode and carry out the plan", nil},
	{"finder", Search, "Find code", argTitle("Find", "query")},
	{"oracle", Think, "Consult oracle", argTitle("Consult oracle:", "task")},
	{"librarian", Search, "Search repositories", argTitle("Search repositories for", "query")},
	{"check", Execute, "Run checks", nil},
	{"kraken", Edit, "Refactor many files", argTitle("Refactor:", "prompt")},
	{"view_image", Read, "View image", pathTitle("View")},
	{"read_thread", Read, "Read thread", nil},
	{"find_thread", Search, "Find thread", argTitle("Find thread", "query")},
	{"task_list", Read, "List tasks", nil},
}

// lockedCount is the number of locked ids at the head of the table.
const lockedCount = 13

// Locked returns the thirteen tool ids that every agent ships (R3), in order.
func Locked() []string {
	ids := make([]string, 0, lockedCount)
	for _, r := range table[:lockedCount] {
		ids = append(ids, r.id)
	}
	return ids
}

// Known returns every id of the table, locked ones first.
func Known() []string {
	ids := make([]string, 0, len(table))
	for _, r := range table {
		ids = append(ids, r.id)
	}
	return ids
}

// Of returns the kind of a tool by its canonical id. Tools that are not in the
// table (MCP, toolbox, unknown names) are Other.
func Of(id string) Kind {
	if r := find(id); r != nil {
		return r.kind
	}
	return Other
}

// Label is the title of a call whose arguments are not known yet.
func Label(id string) string {
	if r := find(id); r != nil {
		return r.label
	}
	return humanise(id)
}

func find(id string) *row {
	i := slices.IndexFunc(table, func(r row) bool { return r.id == id })
	if i < 0 {
		return nil
	}
	return &table[i]
}

// Foreign reports the name of a tool from elsewhere, an MCP server or a toolbox, or of a
// permission for some of them ("mcp:server:*").
func Foreign(name string) bool {
	return strings.HasPrefix(name, "mcp:") || strings.HasPrefix(name, "mcp__") || strings.HasPrefix(name, "tb__")
}

// humanise turns "mcp__github__search_code" into "github · search code".
// An id that no tool has may be anything that a model wrote.
func humanise(id string) string {
	name, isMCP := strings.CutPrefix(id, "mcp__")
	name = strings.TrimPrefix(name, "tb__")
	label := strings.ReplaceAll(name, "_", " ")
	if server, tool, ok := strings.Cut(name, "__"); isMCP && ok {
		label = server + " · " + strings.ReplaceAll(tool, "_", " ")
	}
	if label = Line(label, titleLimit); label == "" {
		return "Unknown tool"
	}
	return label
}
