package patch_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/patch"
)

const hunk = "@@ -1 +1 @@\n-a\n+b\n"

// summary is one line a file.
func summary(p *patch.Patch) []string {
	var lines []string
	for _, f := range p.Files() {
		added, removed := f.Count()
		lines = append(lines, fmt.Sprintf("%s %s +%d -%d at %d", f.Op, strings.Join(f.Names(), " to "), added, removed, f.Line))
	}
	return lines
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, patch string
		want        []string
	}{
		{"of git", "diff --git a/x.go b/x.go\nindex 1..2 100644\n--- a/x.go\n+++ b/x.go\n" + hunk, []string{"modify x.go +1 -1 at 1"}},
		{"header of git alone", "diff --git a/x y b/x y\n" + hunk, []string{"modify x y +1 -1 at 1"}},
		{"no header", "--- x.go\n+++ x.go\n" + hunk, []string{"modify x.go +1 -1 at 1"}},
		{"a directory that is called a", "--- a/x.go\n+++ a/x.go\n" + hunk, []string{"modify a/x.go +1 -1 at 1"}},
		{"one prefix", "--- a/x.go\n+++ x.go\n" + hunk, []string{"modify x.go +1 -1 at 1"}},
		{"absolute", "--- /w/x.go\n+++ /w/x.go\n" + hunk, []string{"modify /w/x.go +1 -1 at 1"}},
		{"absolute below prefixes", "--- a//w/x.go\n+++ b//w/x.go\n" + hunk, []string{"modify /w/x.go +1 -1 at 1"}},
		{"times", "--- a/x.go\t2026-01-02 03:04:05\n+++ b/x.go\t2026-01-02 03:04:06\n" + hunk, []string{"modify x.go +1 -1 at 1"}},
		{"quoted", "--- \"a/\\303\\244 b\"\n+++ \"b/\\303\\244 b\"\n" + hunk, []string{"modify ä b +1 -1 at 1"}},
		{"create", "--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+a\n+b\n", []string{"create new +2 -0 at 1"}},
		{"create, counts wrong", "--- /dev/null\n+++ b/new\n@@ -1,3 +1,9 @@\n+a\n+b\n", []string{"create new +2 -0 at 1"}},
		{"create empty", "diff --git a/new b/new\nnew file mode 100644\nindex 0..0\n", []string{"create new +0 -0 at 1"}},
		{"delete", "--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", []string{"delete old +0 -1 at 1"}},
		{"delete without hunks", "diff --git a/old b/old\ndeleted file mode 100644\n", []string{"delete old +0 -0 at 1"}},
		{"rename", "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", []string{"rename x to y +0 -0 at 1"}},
		{"rename and change", "diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/y\n" + hunk, []string{"rename x to y +1 -1 at 1"}},
		{"rename without header", "rename from x\nrename to y\nrename from v\nrename to w\n", []string{"rename x to y +0 -0 at 1", "rename v to w +0 -0 at 3"}},
		{"several", names + hunk + "--- a/g\n+++ b/g\n" + hunk + "\ndiff --git a/h b/h\n--- a/h\n+++ b/h\n" + hunk, []string{
			"modify f +1 -1 at 1", "modify g +1 -1 at 6", "modify h +1 -1 at 12",
		}},
		{"fence and prose", "Here is the patch:\n\n```diff\n" + names + hunk + "```\nThat is all.\n", []string{"modify f +1 -1 at 4"}},
		{"counts too large before the next file", names + "@@ -1,5 +1,5 @@\n-a\n+b\n--- a/g\n+++ b/g\n" + hunk, []string{"modify f +1 -1 at 1", "modify g +1 -1 at 6"}},
		{"no newline at the end", strings.TrimSuffix(names+hunk, "\n"), []string{"modify f +1 -1 at 1"}},
		{"envelope", "*** Begin Patch\n*** Add File: n\n+a\n+\n+b\n*** Update File: u\n*** Move to: v\n@@ x\n-a\n+b\n*** Delete File: d\n*** End Patch", []string{
			"create n +3 -0 at 2", "rename u to v +1 -1 at 6", "delete d +0 -0 at 11",
		}},
		{"envelope without its ends, in a fence", "```\n*** Update File: u\n@@\n-a\n+b\n```\n", []string{"modify u +1 -1 at 2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := patch.Parse(t.Context(), tt.patch)
			if err != nil {
				t.Fatalf("Parse: %v", err)
			}
			if diff := cmp.Diff(tt.want, summary(p)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParse_Refused(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, patch, want string }{
		{"empty", "", "no change of a file found"},
		{"prose", "please change the file", "no change of a file found"},
		{"hunk without names", hunk, "patch line 1: a hunk needs the names"},
		{"hunk after the fence", names + hunk + "```\n@@ -5 +5 @@\n-x\n+y\n", "patch line 7: a hunk needs the names"},
		{"no hunk", names, "patch line 1: f: the file has no hunk"},
		{"hunk without change", names + "@@ -1 +1 @@\n a\n", "patch line 3: f: the hunk changes nothing"},
		{"empty hunk", names + "@@ -1 +1 @@\n" + hunk, "patch line 3: f: the hunk is empty"},
		{"line without mark", names + "@@ -1,2 +1,2 @@\n-a\n+b\nc\n", `patch line 6: f: "c" is neither a header nor a line of a hunk`},
		{"binary", "diff --git a/x b/x\nGIT binary patch\nliteral 3\n", "patch line 2: x: binary patches"},
		{"binary in short", "diff --git a/x b/x\nBinary files a/x and b/x differ\n", "binary patches"},
		{"mode", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "the mode of a file cannot be changed"},
		{"link", "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+t\n", "mode 120000 is none of a plain file"},
		{"copy", "diff --git a/x b/y\ncopy from x\ncopy to y\n", "copies cannot be made"},
		{"names differ", "--- a/x\n+++ b/y\n" + hunk, `the names "x" and "y" differ`},
		{"half a rename", "diff --git a/x b/y\nrename from x\n", "a rename needs two different names"},
		{"no name", "--- /dev/null\n+++ /dev/null\n" + hunk, "the file has no name"},
		{"named twice", names + hunk + "--- a/./f\n+++ b/./f\n" + hunk, "patch line 6: ./f: the file is named at line 1 already"},
		{"renamed to a name in use", "rename from x\nrename to f\n" + names + hunk, "the file is named at line 1 already"},
		{"created with old lines", "--- /dev/null\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n+b\n", "patch line 4: f: a file that is created"},
		{"created with removed lines", "--- /dev/null\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "patch line 4: f: a file that is created"},
		{"deleted with lines that stay", "--- a/f\n+++ /dev/null\n@@ -1,2 +1 @@\n-a\n b\n", "patch line 5: f: a file that is deleted"},
		{"deleted with new lines", "--- a/f\n+++ /dev/null\n@@ -1,2 +1,2 @@\n-a\n+b\n", "patch line 5: f: a file that is deleted"},
		{"mark of no newline in the middle", names + "@@ -1,2 +1,2 @@\n-a\n\\ No newline at end of file\n b\n", "belongs below the last"},
		{"two forms", names + hunk + "```\n*** Update File: x\n@@\n-a\n+b\n", "patch line 7: a patch has one form"},
		{"envelope, unmarked line", "*** Add File: x\na\n", "patch line 2: x: every line of an added file begins with +"},
		{"envelope, no part", "*** Begin Patch\n@@\n-a\n", "patch line 2: "},
		{"envelope, hunk without change", "*** Update File: x\n@@\n a\n", "patch line 2: x: the hunk changes nothing"},
		{"NUL in a name", "*** Add File: a\x00b\n+x\n", "is no name of a file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := patch.Parse(t.Context(), tt.patch)
			if !errors.As(err, new(*patch.Error)) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Parse: %v, want an error with %q", err, tt.want)
			}
		})
	}
}
