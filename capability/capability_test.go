package capability_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/capability"
)

func TestAction_Text(t *testing.T) {
	for _, a := range []capability.Action{capability.Allow, capability.Ask, capability.Deny} {
		data, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var back capability.Action
		if err := json.Unmarshal(data, &back); err != nil || back != a {
			t.Errorf("%s became %s, %v", a, back, err)
		}
	}
	for _, bad := range []string{`"Allow"`, `"alow"`, `""`, `1`, `null`, `true`} {
		back := capability.Deny
		err := json.Unmarshal([]byte(bad), &back)
		if bad != "null" && err == nil || back == capability.Allow {
			t.Errorf("%s was taken for %s", bad, back)
		}
	}
	var zero capability.Action
	if zero != capability.Ask {
		t.Errorf("the zero action is %s, want ask", zero)
	}
}

func TestAction_Stricter(t *testing.T) {
	order := []capability.Action{capability.Allow, capability.Ask, capability.Deny}
	for i, a := range order {
		for j, b := range order {
			if got := a.Stricter(b); got != (i > j) {
				t.Errorf("%s stricter than %s: %t", a, b, got)
			}
		}
	}
}

func TestRequirementSet_JSON(t *testing.T) {
	const text = `{"fs":{"read":["{workspace}/**"]},"net":{"hosts":["example.com"]},"shell":[{"cmd":"git","args":["log",{"prefix":"-n"},{"wildcard":true}]},{"cmd":"ls"},{"cmd":"pwd","args":[]}],"capabilities":["x"]}`
	var set capability.RequirementSet
	if err := json.Unmarshal([]byte(text), &set); err != nil {
		t.Fatal(err)
	}
	if set.Shell[1].Args != nil || set.Shell[2].Args == nil {
		t.Error("absent and empty arguments must stay apart")
	}
	back, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, string(back)); diff != "" {
		t.Errorf("round trip (-want +got)\n%s", diff)
	}
	if empty, _ := json.Marshal(capability.RequirementSet{}); string(empty) != "{}" {
		t.Errorf("the empty set is %s", empty)
	}
	for _, bad := range []string{
		`null`, `1`, `{}`, `{"wildcard":false}`, `{"wildcard":true,"prefix":"x"}`, `{"prefix":1}`, `{"suffix":"x"}`, `[]`,
	} {
		var p capability.ArgPattern
		if err := json.Unmarshal([]byte(bad), &p); err == nil {
			t.Errorf("%s was read as %+v", bad, p)
		}
	}
}

func TestShellRun_Match(t *testing.T) {
	exact := func(s string) capability.ArgPattern { return capability.ArgPattern{Text: s} }
	star := capability.ArgPattern{Kind: capability.ArgWildcard}
	prefix := func(s string) capability.ArgPattern {
		return capability.ArgPattern{Kind: capability.ArgPrefix, Text: s}
	}
	tests := []struct {
		name string
		run  capability.ShellRun
		argv string
		want bool
	}{
		{"any arguments", capability.ShellRun{Cmd: "git"}, "git push x", true},
		{"another command", capability.ShellRun{Cmd: "git"}, "gitk", false},
		{"no arguments", capability.ShellRun{Cmd: "ls", Args: []capability.ArgPattern{}}, "ls", true},
		{"one too many", capability.ShellRun{Cmd: "ls", Args: []capability.ArgPattern{}}, "ls a", false},
		{"exact", capability.ShellRun{Cmd: "git", Args: []capability.ArgPattern{exact("log")}}, "git log", true},
		{"length must match", capability.ShellRun{Cmd: "git", Args: []capability.ArgPattern{exact("log")}}, "git log x", false},
		{"one too few", capability.ShellRun{Cmd: "git", Args: []capability.ArgPattern{exact("log"), star}}, "git log", false},
		{"wildcard is one", capability.ShellRun{Cmd: "git", Args: []capability.ArgPattern{exact("log"), star}}, "git log x", true},
		{"prefix", capability.ShellRun{Cmd: "git", Args: []capability.ArgPattern{prefix("-n")}}, "git -n5", true},
		{"prefix elsewhere", capability.ShellRun{Cmd: "git", Args: []capability.ArgPattern{prefix("-n")}}, "git x-n", false},
		{"order", capability.ShellRun{Cmd: "git", Args: []capability.ArgPattern{exact("a"), exact("b")}}, "git b a", false},
		{"no command", capability.ShellRun{}, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.run.Match(strings.Fields(tt.argv)); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestCompile(t *testing.T) {
	vars := capability.Vars{
		capability.VarWorkspace: {"/w", "/x[1]"}, capability.VarAdHoc: nil, capability.VarUserData: {""}, "win": {`C:\w`},
	}
	tests := []struct {
		name, pattern string
		in, out       []string
	}{
		{"tree", "{workspace}/**", []string{"/w", "/w/a", "/w/a/b", "/x[1]/a"}, []string{"/workspace", "/work", "/x1/a", "/", "", "w/a", "/w/../etc"}},
		{"relative", "src/*.go", []string{"/w/src/a.go", "/x[1]/src/a.go"}, []string{"/w/src/a/b.go", "/w/a.go"}},
		{"bare directory", "{workspace}", []string{"/w", "/w/a/b"}, []string{"/wx", "/v"}},
		{"absolute", "/etc/hosts", []string{"/etc/hosts"}, []string{"/etc/hosts2", "/etc"}},
		{"alternatives stay", "{workspace}/{a,b}/**", []string{"/w/a/x", "/w/b"}, []string{"/w/c"}},
		{"empty variable", "{ad-hoc}/**", nil, []string{"/", "/w/a", "/etc/passwd", ""}},
		{"empty value", "{user-data}/**", nil, []string{"/", "/w/a", "/etc/passwd"}},
		{"empty pattern", " ", nil, []string{"/", "/w", "/w/a"}},
		{"windows", "{win}/**", []string{`C:\w\a`, "C:/w/a"}, []string{`C:\wx`, `D:\w\a`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := capability.Compile(capability.RequirementSet{FS: capability.FS{Read: []string{tt.pattern}}}, vars)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range tt.in {
				if !c.Read(name) {
					t.Errorf("%q is outside", name)
				}
			}
			for _, name := range tt.out {
				if c.Read(name) {
					t.Errorf("%q is inside", name)
				}
			}
			if c.Write("/w/a") {
				t.Error("reading granted writing")
			}
		})
	}
}

func TestCompile_Errors(t *testing.T) {
	vars := capability.Vars{capability.VarWorkspace: {"/w"}, "rel": {"a/b"}}
	for _, pattern := range []string{"{workspce}/**", "{rel}/**", "{workspace}/../x", "{workspace}/[", "{workspace}/" + strings.Repeat("{a,b}", 9)} {
		set := capability.RequirementSet{FS: capability.FS{Write: []string{pattern}}}
		if _, err := capability.Compile(set, vars); err == nil {
			t.Errorf("%q compiled", pattern)
		}
	}
	_, err := capability.Compile(capability.RequirementSet{Net: capability.Net{Hosts: []string{"{nope}"}}}, vars)
	var undefined *capability.UndefinedError
	if !errors.As(err, &undefined) || undefined.Name != "nope" || !strings.Contains(err.Error(), "{nope}") {
		t.Errorf("got %v, want an error that names {nope}", err)
	}
}

func TestCompiled_And(t *testing.T) {
	compile := func(set capability.RequirementSet) capability.Compiled {
		c, err := capability.Compile(set, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a := compile(capability.RequirementSet{
		FS: capability.FS{Read: []string{"/a/**", "/b/**"}}, Net: capability.Net{Hosts: []string{"*.go.dev"}},
		Shell: []capability.ShellRun{{Cmd: "git"}}, Capabilities: []string{"x", "y"},
	})
	b := compile(capability.RequirementSet{
		FS: capability.FS{Read: []string{"/b/*.go", "/c"}}, Net: capability.Net{Hosts: []string{"pkg.go.dev", "x.org"}},
		Shell:        []capability.ShellRun{{Cmd: "git", Args: []capability.ArgPattern{{Text: "log"}}}, {Cmd: "ls"}},
		Capabilities: []string{"y"},
	})
	both := a.And(b)
	for what, ok := range map[string]bool{
		"common path": both.Read("/b/a.go"), "common host": both.Host("PKG.go.dev."), "common run": both.Run([]string{"git", "log"}), "common name": both.Has("y"),
	} {
		if !ok {
			t.Errorf("%s is refused", what)
		}
	}
	for what, ok := range map[string]bool{
		"only in a": both.Read("/a/x"), "only in b": both.Read("/c"), "host of b": both.Host("x.org"), "host of a": both.Host("a.go.dev"),
		"run of a": both.Run([]string{"git", "push"}), "run of b": both.Run([]string{"ls"}), "name of a": both.Has("x"),
		"with nothing": a.And(capability.Compiled{}).Read("/a/x"), "nothing": capability.Compiled{}.Read("/a/x"),
	} {
		if ok {
			t.Errorf("%s is granted", what)
		}
	}
}

func TestUnion(t *testing.T) {
	a := capability.RequirementSet{
		FS: capability.FS{Read: []string{"{workspace}/**"}, Write: []string{"{workspace}/a/**"}}, Capabilities: []string{"x"},
		Shell: []capability.ShellRun{{Cmd: "git"}}, Net: capability.Net{Hosts: []string{"*"}},
	}
	b := capability.RequirementSet{
		FS: capability.FS{Read: []string{"{workspace}/src/**", "/etc"}, Write: []string{"{workspace}/b/**"}}, Capabilities: []string{"x", "y"},
		Shell: []capability.ShellRun{{Cmd: "git", Args: []capability.ArgPattern{{Text: "log"}}}}, Net: capability.Net{Hosts: []string{"go.dev"}},
	}
	union := capability.RequirementSet{
		FS: capability.FS{
			Read:  []string{"{workspace}/**", "{workspace}/src/**", "/etc"},
			Write: []string{"{workspace}/a/**", "{workspace}/b/**"},
		},
		Capabilities: []string{"x", "y"}, Net: capability.Net{Hosts: []string{"*", "go.dev"}},
		Shell: []capability.ShellRun{a.Shell[0], b.Shell[0]},
	}
	if diff := cmp.Diff(union, capability.Union(a, b, a)); diff != "" {
		t.Errorf("union (-want +got)\n%s", diff)
	}
}

// FuzzCompile holds that no pattern or value breaks the compiler, and that nothing is
// granted outside the one directory that a pattern may stand for.
func FuzzCompile(f *testing.F) {
	f.Add("{workspace}/**", "/w", "/w/a")
	f.Add("{a}", "", "/")
	f.Add("{workspace}[", `C:\x`, "c:/x")
	f.Fuzz(func(t *testing.T, tail, dir, name string) {
		set := capability.RequirementSet{FS: capability.FS{Read: []string{"{workspace}/" + tail}}}
		c, err := capability.Compile(set, capability.Vars{capability.VarWorkspace: {dir}})
		if err != nil {
			return
		}
		if strings.TrimSpace(dir) == "" && c.Read(name) {
			t.Fatalf("an empty workspace grants %q", name)
		}
	})
}
