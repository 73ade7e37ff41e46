//go:build unix

package sources

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testfile"
	"acp-agent/internal/testkit/testreq"
)

// answers is a provider in bash that has the tool it; on is what it does when that is
// called, and listed after its list. say ID VALUE answers.
func answers(on, listed string) string {
	return `#!/usr/bin/env bash
say() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; }
while IFS= read -r line; do
  id=
  [[ $line =~ \"id\":([0-9]+) ]] && id=${BASH_REMATCH[1]}
  case $line in
  *'"initialize"'*) say "$id" '{}' ;;
  *'"tools/list"'*)
    say "$id" '{"tools":[{"name":"it","description":"Does it, '$RANDOM'."}]}'
    ` + listed + `
    ;;
  *'"tools/execute"'*)
    ` + on + `
    ;;
  esac
done
`
}

// R94, R104, R149: whatever a provider does in a call, the session goes on, others of its
// tools work, and nothing of it is left when the agent has ended.
func TestProvider_Attacks(t *testing.T) {
	const ok = `say "$id" '{"result":"done"}'`
	for _, tt := range testreq.Pick(4, []struct {
		name, on, listed string
		// want is in the result of the first call; of one that never ends the turn is
		// cancelled.
		want string
	}{
		{"kills itself", `kill -9 $$`, ":", "its program has ended"},
		{"leaves a child that holds its output", `sleep 300 & ` + ok, ":", "done"},
		{"floods its standard error", `head -c 30000000 /dev/zero >&2; ` + ok, ":", "done"},
		{"floods its output with lines", `yes '{"x":1}' | head -n 300000; ` + ok, ":", "done"},
		{"floods its output with one line", `head -c 20000000 /dev/zero; ` + ok, ":", "more than 16 MiB"},
		{"answers others first", `say 99999 '{"result":"not this"}'; say '"x"' 1; say null 1; say "-$id" 1; ` + ok, ":", "done"},
		{"answers twice", ok + `; say "$id" '{"result":"again"}'`, ":", "done"},
		{"asks the agent", `printf '{"jsonrpc":"2.0","id":%s,"method":"initialize"}\n' "$id"; ` + ok, ":", "done"},
		{"changes its list all the time", ok, `printf '{"jsonrpc":"2.0","method":"tools/changed"}\n'`, "done"},
		{"never answers", ":", ":", ""},
		{"never answers and ignores signals", `trap '' TERM INT HUP; exec sleep 300`, ":", ""},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			testfile.Executable(t, filepath.Join(dir, "bad"), answers(tt.on, tt.listed))
			testfile.Executable(t, filepath.Join(dir, "good"), answers(ok, ":"))
			config := testfile.Config(t, `{
				"tools": {"search": {"enabled": false}}, "rules": {"allow": ["tb__*"]}, "roots": {"read": [%q]},
				"external": {"toolProviders": {"bad": {"type": "stdio", "command": %q}, "good": {"type": "stdio", "command": %q}}}}`,
				dir, filepath.Join(dir, "bad"), filepath.Join(dir, "good"))
			attacked(t, []string{config}, "tb__bad__it", "tb__good__it", tt.want)
		})
	}
}

// absent is what is wanted of a tool that must not be there.
const absent = "unknown tool"

// attacked has the model call the bad tool and then the good one, in two turns. The first
// is cancelled when there is nothing to want of the bad one.
func attacked(t *testing.T, env []string, bad, good, want string) {
	t.Helper()
	model := fmt.Sprintf(`{"when":"^go$","call":[{"name":%q}]}`+"\n", bad)
	if want != "" {
		model += fmt.Sprintf(`{"expect":{"last_result":%q},"say":"On."}`+"\n", want)
	}
	model += fmt.Sprintf(`{"when":"^on$","expect":{"tools":[%q]},"call":[{"name":%q}]}`+"\n"+`{"expect":{"last_result":"done"},"say":"Over."}`, good, good)
	agent := acptest.Start(t, acptest.Options{Env: env, Model: model})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	turn := session.Prompt("go")
	if want == "" {
		agent.Expect("the call", acptest.Update("tool_call_update", "status", "in_progress"))
		session.Cancel()
		turn.Ends("cancelled")
	} else {
		turn.Ends("end_turn")
	}
	session.Prompt("on").Ends("end_turn")
	if !strings.Contains(session.Text(), "Over.") {
		t.Errorf("the session says %q", session.Text())
	}
	agent.Close()
}

// R93, R104, R149: the same of a script of a toolbox, in a call and when it is asked what
// it is.
func TestToolbox_Attacks(t *testing.T) {
	const describe, hangs = `printf 'name: bad\ndescription: d\n'`, "hangs when it is asked, and ignores signals"
	for _, tt := range testreq.Pick(4, []struct{ name, describe, execute, want string }{
		{"forks a daemon in a call", describe, `setsid sleep 300 & echo done`, "done"},
		{"forks a daemon when it is asked", `setsid sleep 300 & ` + describe, `echo done`, "done"},
		{"ignores signals in a call", describe, `trap '' TERM INT HUP; while :; do sleep 1; done`, ""},
		{"floods its output", describe, `yes done | head -c 30000000`, "Output truncated"},
		{"floods its standard error", describe, `yes done | head -c 30000000 >&2; echo done`, "done"},
		{"is killed", describe, `kill -9 $$`, "ended by signal"},
		{"says what it is, and goes on talking", describe + `; yes 'x: y' | head -c 3000000`, `:`, absent},
		{hangs, `trap '' TERM INT HUP; sleep 300 & while :; do wait; done`, `:`, absent},
		{"writes where it lies", describe, `echo x > "$0.new" || echo done`, "done"},
	}) {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			box := filepath.Join(dir, "box")
			testfile.Executable(t, filepath.Join(box, "bad"), "#!/usr/bin/env bash\nif [ \"$TOOLBOX_ACTION\" = describe ]; then\n"+tt.describe+"\nelse\n"+tt.execute+"\nfi\n")
			testfile.Executable(t, filepath.Join(box, "good"), "#!/bin/sh\nif [ \"$TOOLBOX_ACTION\" = describe ]; then printf 'name: good\\ndescription: d\\n'; else echo done; fi\n")
			config := testfile.Config(t, `{"tools": {"search": {"enabled": false}}, "rules": {"allow": ["tb__*"]}, "toolbox": {"dirs": [%q]}}`, box)
			env := []string{config}
			if tt.name == hangs && !testreq.Full() { // the full form waits until the agent gives up
				env = append(env, quick...)
			}
			attacked(t, env, "tb__bad", "tb__good", tt.want)
		})
	}
}
