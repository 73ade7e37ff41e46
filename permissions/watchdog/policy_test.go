package watchdog_test

import (
	"strings"
	"testing"

	"acp-agent/capability"
	"acp-agent/internal/shell"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
	"acp-agent/permissions/watchdog"
)

// of makes a call of bash with a command.
func of(text string) watchdog.Call {
	env := command.Env{Cwd: "/w", Roots: []string{"/w"}, Home: "/home/me", Dialect: shell.Bash}
	return watchdog.Call{
		Tool: "bash", Roots: []string{"/w"}, Cwd: "/w", Scratch: "/state/scratch",
		Capabilities: []string{capability.CapShellRun}, Commands: []watchdog.Command{{Text: text, Env: env}},
	}
}

func tool(name string, capabilities []string, resources ...permissions.Resource) watchdog.Call {
	return watchdog.Call{Tool: name, Roots: []string{"/w"}, Scratch: "/state/scratch", Capabilities: capabilities, Resources: resources}
}

func written(path string) permissions.Resource {
	return permissions.Resource{Kind: permissions.Path, Name: path, Capability: capability.CapFSWrite}
}

func TestPolicies(t *testing.T) {
	const allow, ask, deny = capability.Allow, capability.Ask, capability.Deny
	write, net := []string{capability.CapFSWrite}, []string{capability.CapNetFetch}
	foreign := watchdog.Call{Tool: "mcp__x__y", Foreign: true}
	tests := []struct {
		name                  string
		call                  watchdog.Call
		bash, offline, reader capability.Action
	}{
		{"reading", of("cat a.txt | wc -l"), allow, allow, allow},
		{"building", of("go test ./..."), allow, allow, deny},
		{"a write inside", of("echo x > a.txt"), allow, allow, deny},
		{"a write into scratch", of("echo x > /state/scratch/a"), allow, allow, deny},
		{"a write outside", of("echo x > /srv/a.txt"), ask, allow, deny},
		{"a write outside by a program", of("cp a.txt /srv/a.txt"), ask, allow, deny},
		{"a write outside behind an option", of("go build -o=/srv/a ."), ask, allow, deny},
		{"a write outside by way of cd", of("cd /srv && echo x > a.txt"), ask, allow, deny},
		{"nothing written to a device", of("go vet ./... > /dev/null"), allow, allow, deny},
		{"a download", of("curl -sO https://example.com/x"), ask, deny, deny},
		{"a download behind another command", of("cat a.txt && (true; wget https://example.com/x)"), ask, deny, deny},
		{"a package manager", of("npm install"), ask, deny, deny},
		{"privilege", of("sudo make install"), ask, allow, deny},
		{"an interpreter", of(`python3 -c 'print(1)'`), ask, ask, deny},
		{"a command that is not known", of(`$TOOL x`), ask, ask, deny},
		{"what does not parse", of(`echo "`), ask, ask, deny},
		{"a system file redirected to", of("echo x > /etc/hosts"), deny, allow, deny},
		{"a system file removed", of("rm /usr/bin/env"), deny, allow, deny},
		{"a system file removed with privilege", of("sudo rm /usr/bin/env"), deny, allow, deny},
		{"a system file moved", of("true; mv a.txt /boot/vmlinuz"), deny, allow, deny},
		{"everything removed", of("rm -rf /"), deny, allow, deny},
		{"a disk", of("dd if=a.txt of=/dev/sda"), deny, allow, deny},
		{"a file written", tool("write", write, written("/w/a.txt")), allow, allow, deny},
		{"a file written outside", tool("write", write, written("/srv/a.txt")), ask, allow, deny},
		{"a system file written", tool("write", write, written("/etc/passwd")), deny, allow, deny},
		{"a file read", tool("read", []string{capability.CapFSRead}), allow, allow, allow},
		{"a page", tool("web_fetch", net, permissions.Resource{Kind: permissions.Host, Name: "example.com"}), allow, deny, allow},
		{"a host without the capability", tool("x", nil, permissions.Resource{Kind: permissions.Host, Name: "example.com"}), allow, deny, allow},
		{"a program", tool("lsp", []string{capability.CapShellRun}, permissions.Resource{Kind: permissions.Program, Name: "gopls"}), allow, allow, deny},
		{"programs not named", tool("check", []string{capability.CapShellRun}), allow, allow, deny},
		{"a tool from elsewhere", foreign, allow, ask, deny},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for policy, want := range map[string]capability.Action{
				watchdog.Bash: test.bash, watchdog.NoNetwork: test.offline, watchdog.ReadOnly: test.reader,
			} {
				d, err := watchdog.Policies()[policy].Judge(t.Context(), test.call)
				if err != nil || d.Action != want {
					t.Errorf("%s: %v (%s), %v; want %v", policy, d.Action, d.Reason, err, want)
				}
				if d.Action != allow && !strings.HasPrefix(d.Reason, "watchdog "+policy+": ") {
					t.Errorf("%s: the reason does not say who: %q", policy, d.Reason)
				}
			}
		})
	}
}
