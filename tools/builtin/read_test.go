package builtin_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/tooltest"
)

func readNames() []string { return []string{"read", "Read"} }

// numbered makes the lines from to to as read shows them.
func numbered(from, to int) string {
	var lines []string
	for i := from; i <= to; i++ {
		lines = append(lines, fmt.Sprintf("%d: line %d", i, i))
	}
	return strings.Join(lines, "\n")
}

// fileOf makes a file of n lines.
func fileOf(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestRead_Lines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		content string
		args    map[string]any
		want    string
		note    string
	}{
		{"three lines", "first\nsecond\nthird\n", nil, "1: first\n2: second\n3: third", ""},
		{"no final newline", "first\nsecond", nil, "1: first\n2: second", ""},
		{"trailing blanks stay", "a  \t\n b\n", nil, "1: a  \t\n2:  b", ""},
		{"carriage returns end lines", "a\r\nb\rc\r\n", nil, "1: a\n2: b\rc", ""},
		{"byte order mark", "\ufeffa\n", nil, "1: a", ""},
		{"blank lines", "\n\na\n\n", nil, "1: \n2: \n3: a\n4: ", ""},
		{"empty", "", nil, "", "[the file is empty]"},
		{"default range", fileOf(501), nil, numbered(1, 500), "[more lines follow; continue with read_range [501, 1000]]"},
		{"exactly the default", fileOf(500), nil, numbered(1, 500), ""},
		{"range", fileOf(9), map[string]any{"read_range": []int{3, 5}}, numbered(3, 5), "[more lines follow; continue with read_range [6, 8]]"},
		{"start below one", fileOf(4), map[string]any{"read_range": []int{-3, 2}}, numbered(1, 2), "[more lines follow; continue with read_range [3, 4]]"},
		{"end past the file", fileOf(4), map[string]any{"read_range": []int{3, 99}}, numbered(3, 4), ""},
		{"start past the file", fileOf(4), map[string]any{"read_range": []int{9, 12}}, "", "[the file ends at line 4, before the range asked for]"},
		{"start past an open line", "a\nb", map[string]any{"read_range": []int{9, 12}}, "", "[the file ends at line 2, before the range asked for]"},
		{"hard cap", fileOf(2500), map[string]any{"read_range": []int{1, 2500}}, numbered(1, 2000), "[more lines follow; continue with read_range [2001, 4000]]"},
		{"invalid UTF-8", "a\xffb\n", nil, "1: a\ufffdb", ""},
		{
			"long line", strings.Repeat("x", 4097) + "\nb\n", nil,
			"1: " + strings.Repeat("x", 4096) + "... [line cut at 4096 bytes]\n2: b", "[1 long lines were cut; byte_range shows the rest]",
		},
		{"longest line that is whole", strings.Repeat("x", 4096) + "\r\n", nil, "1: " + strings.Repeat("x", 4096), ""},
		{
			"long line cut between characters", strings.Repeat("x", 4095) + "é\n", nil,
			"1: " + strings.Repeat("x", 4095) + "... [line cut at 4096 bytes]", "[1 long lines were cut; byte_range shows the rest]",
		},
		{"bytes", "0123456789\n", map[string]any{"byte_range": []int{2, 5}}, "234", "[bytes 2 to 5 of 11]"},
		{"bytes past the end", "0123", map[string]any{"byte_range": []int{2, 50}}, "23", "[bytes 2 to 4 of 4]"},
	}
	under(t, readNames(), func(t *testing.T, limits tools.Limits, name string) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				rt := tooltest.New(tooltest.Options{Files: map[string]string{"f.txt": tt.content}, Limits: &limits})
				args := map[string]any{"path": "/test-workspace/f.txt"}
				for key, value := range tt.args {
					args[key] = value
				}
				result := run(t, rt, name, args)
				if diff := cmp.Diff(tt.want, result.Data); diff != "" {
					t.Errorf("data (-want +got):\n%s", diff)
				}
				want := strings.TrimPrefix(tt.want+"\n\n"+tt.note, "\n\n")
				if tt.note == "" {
					want = tt.want
				}
				if diff := cmp.Diff(want, result.ModelText()); diff != "" {
					t.Errorf("model text (-want +got):\n%s", diff)
				}
				if result.Truncated || result.OutputPath != "" {
					t.Errorf("a window counts as truncated: %+v", result)
				}
			})
		}
	})
}

// Pages of bytes that split characters still show each character once.
func TestRead_BytePagesKeepCharacters(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("aé€😀", 5)
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"f.txt": content}})
	for width := 4; width < 12; width++ {
		var pages strings.Builder
		for at := 0; at < len(content); {
			result := run(t, rt, "read", map[string]any{"path": "f.txt", "byte_range": []int{at, at + width}})
			pages.WriteString(result.Data.(string))
			var from, to, size int
			_, note, _ := strings.Cut(result.Text, "\n\n")
			if _, err := fmt.Sscanf(note, "[bytes %d to %d of %d]", &from, &to, &size); err != nil || to <= at || size != len(content) {
				t.Fatalf("width %d at %d: note %q, %v", width, at, note, err)
			}
			at = to
		}
		if pages.String() != content {
			t.Errorf("pages of %d bytes do not join to the file", width)
		}
	}
}

func TestRead_Errors(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		".env": "KEY=1", "binary.dat": "ab\x00cd", "noise.dat": "\x01\x02\x03\x04abcdef", "a.txt": "a\n", "dir/x": "",
		"credentials.json": "{}", "keys/id_rsa": "", ".env.example": "KEY=",
	}
	tests := []struct {
		name string
		args map[string]any
		want tools.Error
	}{
		{"missing", map[string]any{"path": "/nope.txt"}, tools.Error{Path: "/nope.txt", Message: "ENOENT: no such file or directory '/nope.txt'"}},
		{"missing relative", map[string]any{"path": "nope.txt"}, tools.Error{
			Path: "/test-workspace/nope.txt", Message: "ENOENT: no such file or directory '/test-workspace/nope.txt'",
		}},
		{"missing at home", map[string]any{"path": "~/nope.txt"}, tools.Error{
			Path: "/home/tester/nope.txt", Message: "ENOENT: no such file or directory '/home/tester/nope.txt'",
		}},
		{"secret", map[string]any{"path": ".env"}, secret(".env")},
		{"secret before existence", map[string]any{"path": ".env.local"}, secret(".env.local")},
		{"secret by link", map[string]any{"path": "notes.txt"}, secret("notes.txt")},
		{"secret in other case", map[string]any{"path": ".ENV"}, secret(".ENV")},
		{"credentials", map[string]any{"path": "credentials.json"}, secret("credentials.json")},
		{"key", map[string]any{"path": "keys/id_rsa"}, secret("keys/id_rsa")},
		{"secret bytes", map[string]any{"path": ".env", "byte_range": []int{0, 3}}, secret(".env")},
		{"binary", map[string]any{"path": "binary.dat"}, binary("binary.dat")},
		{"binary without NUL", map[string]any{"path": "noise.dat"}, binary("noise.dat")},
		{"binary bytes", map[string]any{"path": "binary.dat", "byte_range": []int{0, 5}}, binary("binary.dat")},
		{"fifo", map[string]any{"path": "fifo"}, tools.Error{
			Path: "/test-workspace/fifo", Message: "/test-workspace/fifo is not a regular file",
		}},
		{"empty path", map[string]any{"path": ""}, tools.Error{Message: "read: path must not be empty"}},
		{"range backwards", map[string]any{"path": "a.txt", "read_range": []int{5, 2}}, tools.Error{
			Message: "read: read_range [5, 2] ends before it starts",
		}},
		{"fractions", map[string]any{"path": "a.txt", "read_range": []float64{1, 2.5}}, tools.Error{
			Message: "read: read_range must be two whole numbers",
		}},
		{"no bytes", map[string]any{"path": "a.txt", "byte_range": []int{3, 3}}, tools.Error{Message: "read: byte_range [3, 3] is empty"}},
		{"both ranges", map[string]any{"path": "a.txt", "byte_range": []int{0, 3}, "read_range": []int{1, 3}}, tools.Error{
			Message: "read: give read_range or byte_range, not both",
		}},
		{"bytes of a directory", map[string]any{"path": "dir", "byte_range": []int{0, 3}}, tools.Error{
			Message: "read: /test-workspace/dir is a directory, it has no byte_range",
		}},
	}
	under(t, readNames(), func(t *testing.T, limits tools.Limits, name string) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				rt := tooltest.New(tooltest.Options{Files: files, Limits: &limits})
				rt.Mem.Link("notes.txt", ".env")
				rt.Mem.Device("fifo")
				failure := *fail(t, rt, name, tt.args)
				failure.Err = nil
				tt.want.Kind = tools.BadInput
				if diff := cmp.Diff(tt.want, failure); diff != "" {
					t.Errorf("error (-want +got):\n%s", diff)
				}
			})
		}
	})
}

func secret(name string) tools.Error {
	return tools.Error{
		Code: "reading-secret-file", Path: "/test-workspace/" + name,
		Message: "Refusing to read env file. Reading secrets is not permitted.",
	}
}

func binary(name string) tools.Error {
	return tools.Error{
		Path: "/test-workspace/" + name, Message: "File appears to be binary and cannot be displayed as text.",
	}
}

// A failure other than absence never reads as ENOENT (R31).
func TestRead_OtherFailures(t *testing.T) {
	t.Parallel()
	for _, op := range []string{tooltest.OpStat, tooltest.OpOpen} {
		rt := tooltest.New(tooltest.Options{Files: map[string]string{"a.txt": "a\n"}})
		rt.Mem.Fail(op, "a.txt", fmt.Errorf("read: %w", fs.ErrPermission))
		failure := fail(t, rt, "read", map[string]any{"path": "a.txt"})
		if failure.Kind != tools.Backend || strings.Contains(failure.Message, "ENOENT") || !strings.Contains(failure.Message, "/test-workspace/a.txt") {
			t.Errorf("%s: error = %v", op, failure)
		}
	}
}

// The bound is on what the window returns: exactly the limit passes, one byte
// more does not, and a range of a large file passes (trap 28).
func TestRead_SizeLimit(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 1023) + "\n"
	under(t, readNames(), func(t *testing.T, limits tools.Limits, name string) {
		lines := limits.ReadBytes / len(line)
		rt := tooltest.New(tooltest.Options{Limits: &limits, Files: map[string]string{
			"full.txt": strings.Repeat(line, lines),
			"over.txt": strings.Repeat(line, lines) + "x",
			"huge.txt": strings.Repeat(line, 20_000),
		}})
		run(t, rt, name, map[string]any{"path": "full.txt"})
		want := fmt.Sprintf("File content exceeds maximum allowed size (%d bytes)", limits.ReadBytes)
		for _, args := range []map[string]any{
			{"path": "over.txt"},
			{"path": "huge.txt", "read_range": []int{5000, 5000 + lines}},
			{"path": "huge.txt", "byte_range": []int{7, 8 + limits.ReadBytes}},
		} {
			failure := fail(t, rt, name, args)
			if failure.Kind != tools.BadInput || failure.Message != want || failure.Hint == "" {
				t.Errorf("%v: error = %+v, want %q with a hint", args, failure, want)
			}
		}
		run(t, rt, name, map[string]any{"path": "huge.txt", "read_range": []int{5000, 4999 + lines}})
		run(t, rt, name, map[string]any{"path": "huge.txt", "byte_range": []int{7, 7 + limits.ReadBytes}})
	})
}

// repeated is a file of one line over and over, of any size.
type repeated string

func (r repeated) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, r[off%int64(len(r)):])
	for n < len(p) {
		n += copy(p[n:], r)
	}
	return n, nil
}

var _ io.ReaderAt = repeated("")

// Of a file of a gigabyte only what is asked for is read.
func TestRead_HugeFile(t *testing.T) {
	t.Parallel()
	const line = "0123456789abcdefghijklmnopqrstuvwxyz, and again from the start.\n"
	rt := tooltest.New(tooltest.Options{})
	rt.Mem.PutReader("huge.txt", repeated(line), 1<<30)
	rt.Mem.PutReader("line.txt", repeated("endless "), 1<<30)

	run(t, rt, "read", map[string]any{"path": "huge.txt"})
	if got := rt.Mem.BytesRead("huge.txt"); got > 256<<10 {
		t.Errorf("the first lines took %d bytes", got)
	}
	result := run(t, rt, "read", map[string]any{"path": "huge.txt", "byte_range": []int{1 << 29, 1<<29 + 64}})
	if result.Data != line {
		t.Errorf("bytes in the middle = %q", result.Data)
	}
	result = run(t, rt, "read", map[string]any{"path": "huge.txt", "read_range": []int{100_000, 100_001}})
	want := "100000: " + strings.TrimSuffix(line, "\n") + "\n100001: " + strings.TrimSuffix(line, "\n")
	if diff := cmp.Diff(want, result.Data); diff != "" {
		t.Errorf("lines far down (-want +got):\n%s", diff)
	}
	if got := rt.Mem.BytesRead("huge.txt"); got > 8<<20 {
		t.Errorf("lines far down took %d bytes", got)
	}
	result = run(t, rt, "read", map[string]any{"path": "line.txt"})
	if got := rt.Mem.BytesRead("line.txt"); got > 8<<20 || !strings.Contains(result.Text, "[line 1 goes on; continue with byte_range]") {
		t.Errorf("an endless line took %d bytes; text ends %q", got, result.Text[len(result.Text)-120:])
	}
}

func TestRead_Directory(t *testing.T) {
	t.Parallel()
	under(t, append(readNames(), "list_directory"), func(t *testing.T, limits tools.Limits, name string) {
		rt := tooltest.New(tooltest.Options{Limits: &limits, Files: map[string]string{
			"src/file.txt": "", "src/subdir/x": "", "src/another-file.js": "", "src/.hidden": "", "other/y": "",
		}})
		rt.Mem.Link("src/link", "other")
		result := run(t, rt, name, map[string]any{"path": "src"})
		if diff := cmp.Diff(".hidden\nanother-file.js\nfile.txt\nlink/\nsubdir/", result.Data); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
		result = run(t, rt, name, map[string]any{"path": "src", "read_range": []int{2, 3}})
		if diff := cmp.Diff("another-file.js\nfile.txt", result.Data); diff != "" {
			t.Errorf("entries 2 to 3 (-want +got):\n%s", diff)
		}
	})
}

func TestRead_HugeDirectory(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range builtin.MaxEntries + 5 {
		files[fmt.Sprintf("big/f%05d", i)] = ""
	}
	rt := tooltest.New(tooltest.Options{Files: files})
	result := run(t, rt, "read", map[string]any{"path": "big"})
	head, _ := data(t, result)["head"].(string)
	if !result.Truncated || strings.Count(head, "\n")+1 != builtin.MaxEntries {
		t.Errorf("truncated = %v with %d entries", result.Truncated, strings.Count(head, "\n")+1)
	}
	if want := "[more entries follow; continue with read_range [2001, 4000]]"; !strings.HasSuffix(result.Text, want) {
		t.Errorf("text ends %q, want %q", result.Text[len(result.Text)-80:], want)
	}
	result = run(t, rt, "read", map[string]any{"path": "big", "read_range": []int{2001, 4000}})
	if diff := cmp.Diff("f02000\nf02001\nf02002\nf02003\nf02004", result.Data); diff != "" || result.Truncated {
		t.Errorf("last page (-want +got), truncated %v:\n%s", result.Truncated, diff)
	}
}

func TestRead_Image(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, content, media string }{
		{"photo.txt", "\x89PNG\r\n\x1a\n\x00\x00", "image/png"}, // by its bytes, not its name
		{"a.jpg", "\xff\xd8\xff\xe0\x00", "image/jpeg"},
		{"a.gif", "GIF89a\x01\x00", "image/gif"},
		{"old.gif", "GIF87a\x01\x00", "image/gif"},
	}
	under(t, readNames(), func(t *testing.T, limits tools.Limits, name string) {
		for _, tt := range tests {
			rt := tooltest.New(tooltest.Options{Files: map[string]string{tt.name: tt.content}, Limits: &limits})
			result := run(t, rt, name, map[string]any{"path": tt.name})
			encoded := base64.StdEncoding.EncodeToString([]byte(tt.content))
			want := map[string]any{"type": "image", "media_type": tt.media, "data": encoded}
			if diff := cmp.Diff(want, data(t, result)); diff != "" {
				t.Errorf("data of %s (-want +got):\n%s", tt.name, diff)
			}
			if len(result.Images) != 1 || result.Images[0].MediaType != tt.media || result.Images[0].Data != encoded {
				t.Errorf("images of %s = %+v", tt.name, result.Images)
			}
			if strings.Contains(result.ModelText(), encoded) {
				t.Errorf("the image is in the text: %q", result.ModelText())
			}
		}
	})
	rt := tooltest.New(tooltest.Options{})
	rt.Mem.PutReader("big.png", repeated("\x89PNG\r\n\x1a\n"), builtin.MaxImageBytes+1)
	failure := fail(t, rt, "read", map[string]any{"path": "big.png"})
	if failure.Kind != tools.BadInput || failure.Hint == "" || !strings.Contains(failure.Message, "too large to show") {
		t.Errorf("error = %+v", failure)
	}
}

// What the user has typed and not saved is what read shows.
func TestRead_Editor(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{
		Files:  map[string]string{"f.txt": fileOf(3)},
		Editor: map[string]string{"f.txt": "unsaved\r\n" + fileOf(9)},
	})
	tests := []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"path": "f.txt", "read_range": []int{1, 2}}, "1: unsaved\n2: line 1\n\n[more lines follow; continue with read_range [3, 4]]"},
		{map[string]any{"path": "f.txt", "read_range": []int{9, 12}}, "9: line 8\n10: line 9"},
		{map[string]any{"path": "f.txt", "byte_range": []int{0, 4}}, "unsa\n\n[bytes 0 to 4 of 72]"},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, run(t, rt, "read", tt.args).ModelText()); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.args, diff)
		}
	}
	rt.Mem.Fail(tooltest.OpRead, "f.txt", errors.New("no answer"))
	if failure := fail(t, rt, "read", map[string]any{"path": "f.txt"}); failure.Kind != tools.Backend {
		t.Errorf("error = %+v, want kind backend", failure)
	}
}

func TestRead_CardAndKeys(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"real/f.txt": fileOf(9)}})
	rt.Mem.Link("alias", "real")
	result := run(t, rt, "read", map[string]any{"path": "alias/f.txt", "read_range": []int{4, 5}})
	if diff := cmp.Diff([]kinds.Location{{Path: "/test-workspace/alias/f.txt", Line: 4}}, result.Locations); diff != "" {
		t.Errorf("locations (-want +got):\n%s", diff)
	}
	read := tool(t, "read")
	args := []byte(`{"path":"alias/./f.txt"}`)
	if diff := cmp.Diff(
		[]tools.ResourceKey{{Key: "/test-workspace/real/f.txt", Tree: true}}, read.Profile.Keys(tools.NewArgs(args), rt.Sess.Env),
	); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(
		[]tools.Resource{{Kind: tools.PathRead, Value: "/test-workspace/alias/f.txt"}}, read.Resources(tools.NewArgs(args), rt.Sess.Env),
	); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	for path, want := range map[string]string{"~/x": "/home/tester/x", "a/../b": "/test-workspace/b", "/c": "/c"} {
		_, ready, err := tooltest.Prepare(read, "Read", encode(t, map[string]any{"path": path}), rt.Sess.Env)
		if err != nil || string(ready.Raw()) != `{"path":"`+want+`"}` {
			t.Errorf("preprocessing of %q = %s, %v", path, ready.Raw(), err)
		}
	}
}

// Whatever the chunks, the window is what splitting the whole text gives.
func FuzzRead_Window(f *testing.F) {
	f.Add("a\nb\r\nc", 1, 2, 1)
	f.Add("\n\n\n", 2, 9, 2)
	f.Add(strings.Repeat("é", 2100)+"\r\nx", 1, 1, 7)
	f.Add("no end", 5, 6, 3)
	f.Fuzz(func(t *testing.T, content string, from, to, chunk int) {
		from, chunk = max(from, 1), min(max(chunk, 1), 1<<16)
		if to < from || strings.HasPrefix(content, "\ufeff") {
			t.Skip()
		}
		var want []string
		all := strings.SplitAfter(content, "\n")
		if all[len(all)-1] == "" {
			all = all[:len(all)-1]
		}
		for i, line := range all {
			if i+1 < from || i+1 > to {
				continue
			}
			if body, ended := strings.CutSuffix(line, "\n"); ended {
				line = strings.TrimSuffix(body, "\r")
			}
			if len(line) > builtin.MaxLineBytes {
				return // cut lines have a test of their own
			}
			want = append(want, fmt.Sprintf("%d: %s", i+1, strings.ToValidUTF8(line, "\ufffd")))
		}
		got, more, err := builtin.Window(t.Context(), content, from, to, chunk)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Join(want, "\n"), got); diff != "" {
			t.Errorf("window (-want +got):\n%s", diff)
		}
		if more != (len(all) > to) {
			t.Errorf("more = %v with %d lines and the end at %d", more, len(all), to)
		}
	})
}
