package permissions_test

import (
	"testing"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools/builtin"
)

const (
	allow = capability.Allow
	ask   = capability.Ask
	deny  = capability.Deny
)

func rule(permission, pattern string, action capability.Action) permissions.Rule {
	return permissions.Rule{Permission: permission, Pattern: pattern, Action: action}
}

func fileCall(tool, name string) permissions.Call {
	caps := []string{capability.CapFSRead}
	if tool != "read" {
		caps = append(caps, capability.CapFSWrite)
	}
	return permissions.Call{
		Tool: tool, Capabilities: caps, Home: "/home/ann", Own: []string{"/data/acp"},
		Resources: []permissions.Resource{{Kind: permissions.Path, Name: name}},
		Vars: capability.Vars{
			capability.VarWorkspace: {"/w", "/extra"}, permissions.VarScratch: {"/data/acp/scratch"},
			permissions.VarGrantedHosts: {"example.com"},
		},
	}
}

func bashCall(action capability.Action, commands ...string) permissions.Call {
	c := permissions.Call{Tool: "bash", Aliases: []string{"Bash"}, Capabilities: []string{capability.CapShellRun}}
	for _, text := range commands {
		c.Resources = append(c.Resources, permissions.Resource{
			Kind: permissions.Command, Name: text, Judged: &permissions.Judgement{Action: action, Reason: "judged"},
		})
	}
	return c
}

type scoped map[permissions.Scope][]permissions.Rule

func setOf(mode permissions.Mode, rules scoped) permissions.Set {
	s := permissions.Set{}.With(permissions.DefaultScope, permissions.Defaults(mode, false, builtin.Defaults())...)
	for scope, list := range rules {
		s = s.With(scope, list...)
	}
	return s
}

// TestDecide_Precedence holds the worked cases of R115.
func TestDecide_Precedence(t *testing.T) {
	const (
		man  = permissions.Manifest
		user = permissions.User
		proj = permissions.Project
		sess = permissions.Session
	)
	edit, read := fileCall("edit", "/w/src/a.go"), fileCall("read", "/w/src/a.go")
	npm := bashCall(ask, "npm test")
	tests := []struct {
		name  string
		rules scoped
		call  permissions.Call
		want  capability.Action
	}{
		{"01 default allow", nil, read, allow},
		{"02 default ask", nil, edit, ask},
		{"03 no row at all is ask", nil, fileCall("unheard_of", "/w/a"), ask},
		{"04 a user's rule outranks a default that is more specific", scoped{user: {rule("*", "*", ask)}}, read, ask},
		{"05 a capability's rule outranks a tool's default", scoped{user: {
			rule("fs.write", "src/**", allow), rule("fs.read", "src/**", allow),
		}}, edit, allow},
		{"06 deny of a weaker scope beats allow of a stronger", scoped{man: {rule("edit", "*", deny)}, sess: {rule("edit", "*", allow)}}, edit, deny},
		{"07 deny by wildcard beats allow by name", scoped{user: {rule("*", "src/**", deny)}, sess: {rule("edit", "/w/src/a.go", allow)}}, edit, deny},
		{"08 a deny that does not match is nothing", scoped{user: {rule("edit", "doc/**", deny)}, sess: {rule("edit", "*", allow)}}, edit, allow},
		{"09 name over capability, whatever the scope", scoped{man: {rule("read", "*", ask)}, sess: {rule("fs.read", "*", allow)}}, read, ask},
		{"10 capability over wildcard", scoped{man: {rule("fs.read", "*", ask)}, sess: {rule("*", "/w/src/a.go", allow)}}, read, ask},
		{"11 longer literal over shorter", scoped{user: {rule("edit", "src/**", allow)}, sess: {rule("edit", "*", ask)}}, edit, allow},
		{"12 longer literal, the other way", scoped{user: {rule("edit", "**", allow), rule("edit", "src/*.go", ask)}}, edit, ask},
		{"13 equal: session over project", scoped{proj: {rule("edit", "src/**", ask)}, sess: {rule("edit", "src/**", allow)}}, edit, allow},
		{"14 equal: project over user", scoped{user: {rule("edit", "src/**", allow)}, proj: {rule("edit", "src/**", ask)}}, edit, ask},
		{"15 equal: user over manifest", scoped{man: {rule("edit", "src/**", ask)}, user: {rule("edit", "src/**", allow)}}, edit, allow},
		{"16 equal in one scope: the stricter", scoped{user: {rule("edit", "*", allow), rule("edit", "*", ask)}}, edit, ask},
		{"17 an allow of one capability is not one of the other", scoped{user: {rule("fs.read", "*", allow)}}, edit, ask},
		{"18 a deny of one capability is enough", scoped{user: {rule("fs.read", "*", deny)}, sess: {rule("edit", "*", allow)}}, edit, deny},
		{"19 command pattern", scoped{user: {rule("bash", "npm *", allow)}}, npm, allow},
		{"20 command pattern by capability", scoped{user: {rule("shell.run", "npm test", allow)}}, npm, allow},
		{"21 every command must be allowed", scoped{user: {rule("bash", "npm *", allow)}}, bashCall(ask, "npm test", "rm x"), ask},
		{"22 one denied command denies all", scoped{user: {rule("bash", "rm *", deny), rule("bash", "*", allow)}}, bashCall(ask, "npm test", "rm x"), deny},
		{"23 alias of the tool", scoped{user: {rule("Bash", "npm *", deny)}}, npm, deny},
		{"24 a command that only reads needs no rule", nil, bashCall(allow, "ls"), allow},
		{"25 and asks when a user says so", scoped{user: {rule("bash", "*", ask)}}, bashCall(allow, "ls"), ask},
		{"26 a policy deny is lifted by nothing", scoped{sess: {rule("bash", "*", allow)}}, bashCall(deny, "rm -rf /"), deny},
		{"27 pattern without wildcard holds beneath", scoped{user: {rule("edit", "src", allow)}}, edit, allow},
		{"28 but not beside", scoped{user: {rule("edit", "sr", allow)}}, edit, ask},
		{"29 second root", scoped{user: {rule("edit", "src/**", allow)}}, fileCall("edit", "/extra/src/a"), allow},
		{"30 home", scoped{user: {rule("edit", "~/p/**", allow)}}, fileCall("edit", "/home/ann/p/a"), allow},
		{"31 any depth", scoped{user: {rule("edit", "**/*.go", allow)}}, edit, allow},
		{"32 unknown variable grants nothing", scoped{user: {rule("edit", "{nope}/**", allow)}}, edit, ask},
		{"33 and denies", scoped{user: {rule("edit", "{nope}/**", deny)}}, edit, deny},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := setOf(permissions.ModeAsk, tt.rules).Decide(tt.call)
			if d.Action != tt.want {
				t.Errorf("got %s (%s), want %s", d.Action, d.Reason, tt.want)
			}
			if d.Reason == "" {
				t.Error("no reason is given")
			}
		})
	}
}

func TestDecide_Modes(t *testing.T) {
	tests := []struct {
		name string
		mode permissions.Mode
		call permissions.Call
		want capability.Action
	}{
		{"ask mode asks for edits", permissions.ModeAsk, fileCall("edit", "/w/a"), ask},
		{"code mode allows edits", permissions.ModeCode, fileCall("edit", "/w/a"), allow},
		{"code mode allows writes in an additional root", permissions.ModeCode, fileCall("write", "/extra/a"), allow},
		{"not outside", permissions.ModeCode, fileCall("write", "/workspace/a"), ask},
		{"not to delete", permissions.ModeCode, fileCall("delete_file", "/w/a"), ask},
		{"not what runs code", permissions.ModeCode, fileCall("edit", "/w/.git/config"), ask},
		{"nor editor settings", permissions.ModeCode, fileCall("write", "/w/.vscode/tasks.json"), ask},
		{"nor a foreign agent's directory in ask mode", permissions.ModeAsk, fileCall("write", "/w/.amp/x"), ask},
		{"never the agent's own", permissions.ModeCode, fileCall("write", "/w/.acp-agent/config.jsonc"), deny},
		{"nor its store", permissions.ModeCode, fileCall("write", "/data/acp/db"), deny},
		{"scratch is free", permissions.ModeAsk, fileCall("write", "/data/acp/scratch/a"), allow},
		{"unknown mode is ask", "yolo", fileCall("edit", "/w/a"), ask},
		{"writing a secret", permissions.ModeCode, permissions.Call{
			Tool: "write", Capabilities: []string{capability.CapFSWrite},
			Resources: []permissions.Resource{{Kind: permissions.Path, Name: "/w/.env"}},
			Vars:      capability.Vars{capability.VarWorkspace: {"/w"}},
		}, ask},
		{"reading a secret", permissions.ModeCode, fileCall("read", "/w/.env"), deny},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := setOf(tt.mode, nil).Decide(tt.call); d.Action != tt.want {
				t.Errorf("got %s (%s), want %s", d.Action, d.Reason, tt.want)
			}
		})
	}
	t.Run("a mode never outranks a rule", func(t *testing.T) {
		s := setOf(permissions.ModeCode, scoped{permissions.User: {rule("fs.write", "*", ask)}})
		if d := s.Decide(fileCall("edit", "/w/a")); d.Action != ask {
			t.Errorf("got %s (%s), want ask", d.Action, d.Reason)
		}
	})
	t.Run("a mode replaces defaults only", func(t *testing.T) {
		s := setOf(permissions.ModeCode, scoped{permissions.Session: {rule("bash", "ls", allow)}})
		s = s.Replace(permissions.DefaultScope, permissions.Defaults(permissions.ModeAsk, false, builtin.Defaults()))
		if d := s.Decide(fileCall("edit", "/w/a")); d.Action != ask {
			t.Errorf("edit: got %s, want ask", d.Action)
		}
		if d := s.Decide(bashCall(ask, "ls")); d.Action != allow {
			t.Errorf("ls: got %s, want allow", d.Action)
		}
	})
}

// TestDecide_Names holds that a deny cannot be dodged by another spelling of a name,
// and that an allow is taken at its word (P3, P4).
func TestDecide_Names(t *testing.T) {
	tests := []struct {
		name    string
		rule    permissions.Rule
		path    string
		request string
		want    capability.Action
	}{
		{"deny on the link's target", rule("read", "/w/vault/**", deny), "/w/vault/a", "/w/link", deny},
		{"deny on the link itself", rule("read", "/w/link", deny), "/w/other", "/w/link", deny},
		{"deny folds case", rule("read", "/w/Vault/**", deny), "/w/vAULT/a", "", deny},
		{"deny folds form", rule("read", "/w/caf\u00e9/**", deny), "/w/cafe\u0301/a", "", deny},
		{"deny drops trailing dots", rule("read", "/w/vault/**", deny), "/w/vault./a", "", deny},
		{"deny drops streams", rule("read", "/w/vault", deny), "/w/vault::$DATA", "", deny},
		{"deny drops invisible characters", rule("read", "/w/vault/**", deny), "/w/va\u200cult/a", "", deny},
		{"allow does not fold", rule("write", "/w/Vault/**", allow), "/w/vault/a", "", ask},
		{"allow goes by the target", rule("write", "/w/ok/**", allow), "/w/other/a", "/w/ok/a", ask},
		{"allow by the target", rule("write", "/w/ok/**", allow), "/w/ok/a", "/w/link", allow},
		{"no prefix of a name", rule("write", "/w/ok/**", allow), "/w/okay/a", "", ask},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			call := fileCall(tt.rule.Permission, tt.path)
			if tt.request != "" {
				call.Resources[0].Requested = []string{tt.request}
			}
			s := setOf(permissions.ModeAsk, scoped{permissions.User: {tt.rule}})
			if d := s.Decide(call); d.Action != tt.want {
				t.Errorf("got %s (%s), want %s", d.Action, d.Reason, tt.want)
			}
		})
	}
}

func TestDecide_Commands(t *testing.T) {
	tests := []struct {
		name, pattern, text string
		dynamic             bool
		action, want        capability.Action
	}{
		{"exact", "npm test", "npm test", false, allow, allow},
		{"exact is exact", "npm test", "npm test x", false, allow, ask},
		{"prefix", "git log*", "git log --oneline", false, allow, allow},
		{"words", "git log *", "git log", false, allow, allow},
		{"words are whole", "git log *", "git logx", false, allow, ask},
		{"quoted words stay apart", "git commit *", "git 'commit x'", false, allow, ask},
		{"escaped star", `echo \*`, "echo x", false, allow, ask},
		{"dynamic", "git log*", "git log $x", true, allow, ask},
		{"dynamic by star", "*", "git log $x", true, allow, allow},
		{"deny of a dynamic one", "git log*", "git log $x", true, deny, deny},
		{"deny folds", "git push*", "GIT push", false, deny, deny},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			call := bashCall(ask, tt.text)
			call.Resources[0].Dynamic = tt.dynamic
			s := setOf(permissions.ModeAsk, scoped{permissions.User: {rule("bash", tt.pattern, tt.action)}})
			if d := s.Decide(call); d.Action != tt.want {
				t.Errorf("got %s (%s), want %s", d.Action, d.Reason, tt.want)
			}
		})
	}
}

func TestDecide_MCPAndHosts(t *testing.T) {
	mcp := permissions.Call{Tool: "mcp__git__push"}
	fetch := func(host string) permissions.Call {
		c := fileCall("web_fetch", "")
		c.Capabilities = []string{capability.CapNetFetch}
		c.Resources = []permissions.Resource{{Kind: permissions.Host, Name: host}}
		return c
	}
	tests := []struct {
		name  string
		rules []permissions.Rule
		call  permissions.Call
		want  capability.Action
	}{
		{"asked by default", nil, mcp, ask},
		{"one tool", []permissions.Rule{rule("mcp:git:push", "*", allow)}, mcp, allow},
		{"a server", []permissions.Rule{rule("mcp:git:*", "*", allow)}, mcp, allow},
		{"another server", []permissions.Rule{rule("mcp:hub:*", "*", allow)}, mcp, ask},
		{"a server over all", []permissions.Rule{rule("*", "*", ask), rule("mcp:git:*", "*", allow)}, mcp, allow},
		{"a deny of all of them", []permissions.Rule{rule("mcp:*", "*", deny), rule("mcp:git:push", "*", allow)}, mcp, deny},
		{"a host that was named", nil, fetch("example.com"), allow},
		{"another host", nil, fetch("example.com.evil.org"), ask},
		{"a host by rule", []permissions.Rule{rule("web_fetch", "*.go.dev", allow)}, fetch("PKG.go.dev."), allow},
		{"a suffix is no label", []permissions.Rule{rule("web_fetch", "*.go.dev", allow)}, fetch("evilgo.dev"), ask},
		{"a host denied", []permissions.Rule{rule("net.fetch", "example.com", deny)}, fetch("Example.COM"), deny},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := setOf(permissions.ModeAsk, scoped{permissions.User: tt.rules}).Decide(tt.call); d.Action != tt.want {
				t.Errorf("got %s (%s), want %s", d.Action, d.Reason, tt.want)
			}
		})
	}
}

func TestDecide_Validation(t *testing.T) {
	call := bashCall(ask, "rm -rf a")
	call.Resources[0].Judged = &permissions.Judgement{Reason: "Potentially dangerous command", Validation: true, Always: []string{"rm"}}
	d := setOf(permissions.ModeAsk, scoped{permissions.Session: {rule("bash", "*", allow), rule("bash", "rm -rf a", allow)}}).Decide(call)
	if d.Action != ask || d.Reason != "Potentially dangerous command" || !d.Validation || len(d.Always) > 0 {
		t.Errorf("got %+v, want an ask that no rule lifts", d)
	}
	if d.Risk != permissions.RiskDanger || len(d.ToAllow) != 3 {
		t.Errorf("risk %s, choices %q", d.Risk, d.ToAllow)
	}
}

func TestHeadless(t *testing.T) {
	for _, action := range []capability.Action{allow, ask, deny} {
		d := permissions.Headless(permissions.Decision{Action: action, Reason: "why", Always: []permissions.Rule{{}}})
		if (d.Action == allow) != (action == allow) || d.Action == ask {
			t.Errorf("%s became %s", action, d.Action)
		}
		if action == ask && (d.DeniedBy != permissions.DeniedByHeadless || len(d.Always) > 0) {
			t.Errorf("got %+v", d)
		}
	}
}

// TestDecide_Always holds that "always" stores the narrowest rule, that it works, and
// that it covers nothing else (E5, trap 40).
func TestDecide_Always(t *testing.T) {
	tests := []struct {
		name  string
		call  permissions.Call
		want  []string
		other permissions.Call
	}{
		{"a file", fileCall("edit", "/w/a[1].go"), []string{`/w/a\[1\].go`}, fileCall("edit", "/w/a1.go")},
		{"a command", always(bashCall(ask, "npm run build"), "npm", "run", "build"), []string{"npm run build *"}, bashCall(ask, "npm run publish")},
		{"a star is no wildcard", always(bashCall(ask, "x a*"), "x", "a*"), []string{`x a\* *`}, bashCall(ask, "x ab")},
		{"a tool", permissions.Call{Tool: "mcp__git__push"}, []string{"*"}, permissions.Call{Tool: "mcp__git__pull"}},
		{"not for what runs code", fileCall("edit", "/w/.git/config"), nil, permissions.Call{}},
		{"not when the judge forbids it", bashCall(ask, "sh x"), nil, permissions.Call{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := setOf(permissions.ModeAsk, nil)
			d := s.Decide(tt.call)
			var got []string
			for _, r := range d.Always {
				got = append(got, r.Pattern)
			}
			if len(got) != len(tt.want) || len(got) > 0 && got[0] != tt.want[0] {
				t.Fatalf("got %q, want %q", got, tt.want)
			}
			if len(got) == 0 {
				return
			}
			s = s.With(permissions.Session, d.Always...)
			if d := s.Decide(tt.call); d.Action != allow {
				t.Errorf("the same call is %s after always", d.Action)
			}
			if d := s.Decide(tt.other); d.Action != ask {
				t.Errorf("another call is %s after always", d.Action)
			}
		})
	}
}

func always(c permissions.Call, prefix ...string) permissions.Call {
	c.Resources[0].Judged.Always = prefix
	return c
}
