package builtin_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"acp-agent/permissions"
	"acp-agent/tools/tooltest"
	"acp-agent/workspace"
)

func TestSmoke(t *testing.T) {
	dir, _ := filepath.EvalSymlinks(t.TempDir())
	w, err := workspace.New(workspace.Options{SessionID: "ses_x", Cwd: dir, StateDir: t.TempDir(), Secret: permissions.Secret})
	if err != nil { t.Fatal(err) }
	defer w.Close(time.Second)
	os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a\r\nb\r\n"), 0o755)
	os.WriteFile(filepath.Join(dir, "latin"), []byte("a\xe9b\n"), 0o644)
	os.WriteFile(filepath.Join(dir, ".env"), []byte("K=1\n"), 0o644)
	os.Symlink("a.txt", filepath.Join(dir, "link.txt"))
	os.MkdirAll(filepath.Join(dir, "sub/deep"), 0o755)
	syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644)
	big, _ := os.Create(filepath.Join(dir, "big"))
	line := []byte(strings.Repeat("x", 99) + "\n")
	chunk := []byte(strings.Repeat(string(line), 10000))
	for i := 0; i < 300; i++ { big.Write(chunk) }
	big.Close()
	big, _ = os.Create(filepath.Join(dir, "sparse")); big.Truncate(1<<30); big.Close()
	call := func(name, args string) {
		tl := tool(t, name)
		_, ready, err := tooltest.Prepare(tl, name, args, w.Session().Env)
		if err != nil { fmt.Printf("%s %s -> PREPARE %v\n", name, args, err); return }
		c := w.Call("call_1", tl.ID, nil)
		start := time.Now()
		r, err := tl.Run(t.Context(), c, ready)
		c.Finish()
		d := time.Since(start)
		if err != nil { fmt.Printf("%s %s -> %v ERR %v\n", name, args, d, err); return }
		txt := r.ModelText()
		if len(txt) > 300 { txt = txt[:150] + "....." + txt[len(txt)-150:] }
		fmt.Printf("%s %s -> %v %q trunc=%v\n", name, args, d, txt, r.Truncated)
	}
	for _, c := range [][2]string{
		{"read", `{"path":"a.txt"}`}, {"read", `{"path":"nope"}`}, {"read", `{"path":"latin"}`}, {"read", `{"path":".env"}`}, {"read", `{"path":"fifo"}`},
		{"read", `{"path":"."}`}, {"read", `{"path":"/etc/passwd"}`}, {"read", `{"path":"big"}`}, {"read", `{"path":"big","read_range":[2999990,3000010]}`},
		{"read", `{"path":"big","byte_range":[200000000,200000100]}`}, {"read", `{"path":"sparse"}`},
		{"edit", `{"path":"a.txt","old_str":"b","new_str":"B\nC"}`}, {"edit", `{"path":"nope","old_str":"b","new_str":"B"}`}, {"edit", `{"path":".env","old_str":"b","new_str":"B"}`},
		{"edit", `{"path":"latin","old_str":"b","new_str":"B"}`}, {"edit", `{"path":"sub","old_str":"b","new_str":"B"}`},{"edit", `{"path":"big","old_str":"b","new_str":"B"}`},
		{"write", `{"path":"new/x/y.txt","content":"hi"}`}, {"write", `{"path":"sub","content":"hi"}`}, {"write", `{"path":"latin","content":"hi"}`}, {"write", `{"path":".env","content":"hi"}`}, {"write", `{"path":"credentials.json","content":"hi"}`},
		{"write", `{"path":"/etc/zz","content":"hi"}`},{"write", `{"path":"a.txt/b","content":"hi"}`},
		{"glob", `{"filePattern":"**/*.txt"}`}, {"grep", `{"pattern":"a","glob":"*.txt"}`}, {"grep", `{"pattern":"b","path":"link.txt"}`}, {"grep", `{"pattern":"^x{99}$","path":"big"}`},{"grep", `{"pattern":"x","path":"nope"}`},
		{"glob", `{"filePattern":"/etc/*.conf"}`}, {"bash", `{"cmd":"ls"}`},
	} { call(c[0], c[1]) }
	b, _ := os.ReadFile(filepath.Join(dir, "a.txt"))
	st, _ := os.Stat(filepath.Join(dir, "a.txt"))
	fmt.Printf("%q %v\n", b, st.Mode())
}
