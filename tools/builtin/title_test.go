package builtin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
)

// cardOf is the card of a call in /work.
func cardOf(t *testing.T, id, args string) kinds.Card {
	t.Helper()
	definition := tool(t, id)
	return definition.Card(tools.NewArgs(args), kinds.Place{Cwd: "/work", Home: "/home/me"})
}

// Requirements, section C.
func TestKind_EveryTool(t *testing.T) {
	rows := map[string]kinds.Kind{
		"read": kinds.Read, "write": kinds.Edit, "edit": kinds.Edit, "glob": kinds.Search, "grep": kinds.Search,
		"bash": kinds.Execute, "todo": kinds.Other, "task": kinds.Other, "question": kinds.Other,
		"web_search": kinds.Fetch, "web_fetch": kinds.Fetch, "skill": kinds.Think, "tool_search": kinds.Search,
		"apply_patch": kinds.Edit, "undo_edit": kinds.Edit, "delete_file": kinds.Delete, "format_file": kinds.Edit,
		"lsp": kinds.Search, "repo_clone": kinds.Fetch, "repo_overview": kinds.Read, "plan": kinds.Think,
		"plan_exit": kinds.SwitchMode, "finder": kinds.Search, "oracle": kinds.Think, "librarian": kinds.Search,
		"check": kinds.Execute, "kraken": kinds.Edit, "view_image": kinds.Read, "read_thread": kinds.Read,
		"find_thread": kinds.Search, "task_list": kinds.Read, "job_output": kinds.Read, "job_stop": kinds.Other, "job_list": kinds.Read, "mcp__x__y": kinds.Other, "tb__x": kinds.Other, "": kinds.Other,
	}
	for id, want := range rows {
		if got := builtin.Kind(id); got != want {
			t.Errorf("%q is %q, want %q", id, got, want)
		}
	}
	for _, tool := range builtin.All() {
		if _, ok := rows[tool.ID]; !ok {
			t.Errorf("%q is a tool but not in section C", tool.ID)
		}
	}
}

func TestCard(t *testing.T) {
	at := func(path string, line int) []kinds.Location { return []kinds.Location{{Path: path, Line: line}} }
	tests := []struct {
		name, id, args string
		want           kinds.Card
	}{
		{"relative path", "read", `{"path":"a/b.go"}`, kinds.Card{Kind: kinds.Read, Title: "Read a/b.go", Locations: at("/work/a/b.go", 0)}},
		{"absolute path inside", "edit", `{"path":"/work/a.go"}`, kinds.Card{Kind: kinds.Edit, Title: "Edit a.go", Locations: at("/work/a.go", 0)}},
		{"outside stays absolute", "read", `{"path":"/etc/hosts"}`, kinds.Card{Kind: kinds.Read, Title: "Read /etc/hosts", Locations: at("/etc/hosts", 0)}},
		{"a name that begins like the root", "read", `{"path":"/workspace/a"}`, kinds.Card{Kind: kinds.Read, Title: "Read /workspace/a", Locations: at("/workspace/a", 0)}},
		{"a name that begins with dots", "read", `{"path":"..a"}`, kinds.Card{Kind: kinds.Read, Title: "Read ..a", Locations: at("/work/..a", 0)}},
		{"home", "read", `{"path":"~/n.txt"}`, kinds.Card{Kind: kinds.Read, Title: "Read /home/me/n.txt", Locations: at("/home/me/n.txt", 0)}},
		{"range", "read", `{"path":"a","read_range":[40,80]}`, kinds.Card{Kind: kinds.Read, Title: "Read a from line 40", Locations: at("/work/a", 40)}},
		{"the whole command", "bash", `{"cmd":"make test &&\nmake lint"}`, kinds.Card{Kind: kinds.Execute, Title: "make test &&\nmake lint"}},
		{"a command that hides something", "bash", `{"cmd":"ls \u202e\u0007"}`, kinds.Card{Kind: kinds.Execute, Title: `ls \u{202e}\u{7}`}},
		{"grep in a directory", "grep", `{"pattern":"x","path":"sub"}`, kinds.Card{Kind: kinds.Search, Title: "Search for x in sub"}},
		{"grep in files", "grep", `{"pattern":"x","glob":"*.go"}`, kinds.Card{Kind: kinds.Search, Title: "Search for x in *.go"}},
		{"glob", "glob", `{"filePattern":"**/*.go"}`, kinds.Card{Kind: kinds.Search, Title: "Find **/*.go"}},
		{"no arguments yet", "write", `{`, kinds.Card{Kind: kinds.Edit, Title: "Write file"}},
		{"wrong types", "write", `{"path":7}`, kinds.Card{Kind: kinds.Edit, Title: "Write file"}},
		{"task", "task", `{"subagent_type":"explore","prompt":"find\nit"}`, kinds.Card{Kind: kinds.Other, Title: "explore › find it"}},
		{"finder", "finder", `{"query":"the parser"}`, kinds.Card{Kind: kinds.Search, Title: "Find the parser"}},
		{"oracle", "oracle", `{"task":"why?"}`, kinds.Card{Kind: kinds.Think, Title: "Consult oracle: why?"}},
		{"librarian", "librarian", `{"query":"go-cmp"}`, kinds.Card{Kind: kinds.Search, Title: "Search repositories for go-cmp"}},
		{"kraken", "kraken", `{"prompt":"rename it"}`, kinds.Card{Kind: kinds.Edit, Title: "Refactor: rename it"}},
		{
			"patch", "apply_patch", `{"patch":"--- a/x\n+++ b/x\n@@\n-a\n+b\n--- /dev/null\n+++ b/y\n@@\n+a\n"}`,
			kinds.Card{Kind: kinds.Edit, Title: "Patch x, y", Locations: []kinds.Location{{Path: "/work/x"}, {Path: "/work/y"}}},
		},
		{"patch that deletes", "apply_patch", `{"patch":"--- a/x\n+++ /dev/null\n"}`, kinds.Card{Kind: kinds.Delete, Title: "Patch x", Locations: at("/work/x", 0)}},
		{"patch that renames", "apply_patch", `{"patch":"rename from x\nrename to y\n"}`, kinds.Card{Kind: kinds.Move, Title: "Patch x, y", Locations: []kinds.Location{{Path: "/work/x"}, {Path: "/work/y"}}}},
		{"lsp diagnostics", "lsp", `{"operation":"diagnostics","path":"a.go"}`, kinds.Card{Kind: kinds.Read, Title: "diagnostics in a.go", Locations: at("/work/a.go", 0)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, cardOf(t, test.id, test.args)); diff != "" {
				t.Errorf("card (-want +got):\n%s", diff)
			}
		})
	}
}

// Both forms that apply_patch takes name their files on the card.
func TestCard_Patch(t *testing.T) {
	tests := []struct {
		name, patch string
		kind        kinds.Kind
		title       string
	}{
		{"update", "*** Begin Patch\n*** Update File: x\n@@ f\n-a\n+b\n*** End Patch", kinds.Edit, "Patch x"},
		{"several", "*** Begin Patch\n*** Add File: sub/new\n+a\n*** Update File: x\n@@\n-a\n+b\n*** Delete File: gone\n*** End Patch", kinds.Edit, "Patch sub/new, x, gone"},
		{"CRLF, no frame", "*** Update File: x \r\n@@\r\n-a\r\n+b\r\n", kinds.Edit, "Patch x"},
		{"delete", "*** Begin Patch\n*** Delete File: x\n*** Delete File: y\n*** End Patch\n", kinds.Delete, "Patch x, y"},
		{"move", "*** Begin Patch\n*** Update File: x\n*** Move to: y\n*** End Patch\n", kinds.Move, "Patch x, y"},
		{"move and change", "*** Update File: x\n*** Move to: y\n@@\n-a\n+b\n", kinds.Edit, "Patch x, y"},
		{"lines like names in an envelope", "*** Update File: x\n@@\n--- a\n+++ b\n", kinds.Edit, "Patch x"},
		{"lines like names in a hunk", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a\n+++ b\n c\n", kinds.Edit, "Patch x"},
		{"time after a tab", "--- x.orig\t2024-01-01 00:00:00\n+++ x.orig\t2024-01-02 00:00:00\n@@\n-a\n+b\n", kinds.Edit, "Patch x.orig"},
		{"one name alone has a prefix", "--- /dev/null\n+++ b/x\n@@\n+a\n", kinds.Edit, "Patch x"},
		{"a directory called a", "--- a/x\n+++ a/x\n@@\n+a\n", kinds.Edit, "Patch a/x"},
		{"rename and change", "diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@\n-a\n+b\n", kinds.Edit, "Patch x, y"},
		{"two renames", "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\ndiff --git a/v b/w\nrename from v\nrename to w\n", kinds.Move, "Patch x, y, v, w"},
		{"rename and delete", "rename from x\nrename to y\n--- a/z\n+++ /dev/null\n@@\n-a\n", kinds.Edit, "Patch x, y, z"},
		{"delete and rename", "--- a/z\n+++ /dev/null\n@@\n-a\nrename from x\nrename to y\n", kinds.Edit, "Patch z, x, y"},
		{"no lines", "diff --git a/x y b/x y\ndeleted file mode 100644\n", kinds.Delete, "Patch x y"},
		{"quoted", "--- \"a/\\303\\244\"\n+++ \"b/\\303\\244\"\n@@\n-a\n+b\n", kinds.Edit, "Patch ä"},
		{"a hunk of nothing", "--- a/x\n+++ b/x\n@@\n", kinds.Edit, "Patch x"},
		{"prose", "no patch at all\n", kinds.Edit, "Apply patch"},
		{"names that are empty", "*** Update File: \n--- \n+++ \n", kinds.Edit, "Apply patch"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args, err := json.Marshal(map[string]string{"patch": tt.patch})
			if err != nil {
				t.Fatal(err)
			}
			want := kinds.Card{Kind: tt.kind, Title: tt.title}
			if names, ok := strings.CutPrefix(tt.title, "Patch "); ok {
				for name := range strings.SplitSeq(names, ", ") {
					want.Locations = append(want.Locations, kinds.Location{Path: "/work/" + name})
				}
			}
			if diff := cmp.Diff(want, cardOf(t, "apply_patch", string(args))); diff != "" {
				t.Errorf("card (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzCard(f *testing.F) {
	registry, err := tools.NewRegistry(builtin.All()...)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("read", `{"path":"a"}`)
	f.Add("apply_patch", `{"patch":"--- a/x\n+++ b/x"}`)
	f.Add("apply_patch", `{"patch":"*** Update File: x\n*** Move to: y\ndiff --git \"a b\" c\nrename to z"}`)
	f.Fuzz(func(t *testing.T, id, args string) {
		entry, ok := registry.Get(id)
		if !ok {
			t.Skip()
		}
		card := entry.Card(tools.NewArgs(args), kinds.Place{Cwd: "/work"})
		if !card.Kind.Valid() || card.Title == "" {
			t.Errorf("%q %q: card %+v", id, args, card)
		}
		if id != "bash" && (strings.ContainsAny(card.Title, "\n\r\x1b") || len([]rune(card.Title)) > 12*120) {
			t.Errorf("title %q", card.Title)
		}
	})
}
