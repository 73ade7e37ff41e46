package pipeline_test

import (
	"context"
	"testing"

	"acp-agent/capability"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// What a tool or a manifest declares beyond what the host grants is not granted, nor
// what the host would grant and no one declared (R112).
func TestCeiling(t *testing.T) {
	vars := capability.Vars{capability.VarWorkspace: {"/w"}, capability.VarAdHoc: {"/lib"}, capability.VarUserData: {"/data"}}
	compile := func(set capability.RequirementSet) capability.Compiled {
		c, err := capability.Compile(set, vars)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	everything := capability.RequirementSet{
		FS: capability.FS{Read: []string{"/**"}, Write: []string{"/**"}}, Net: capability.Net{Hosts: []string{"*"}},
		Shell: []capability.ShellRun{{Cmd: "sh"}}, Capabilities: []string{capability.CapShellRun, "root"},
	}
	docs := capability.RequirementSet{FS: capability.FS{Read: []string{"{workspace}/docs/**", "{ad-hoc}", "{user-data}"}}}
	tests := []struct {
		name     string
		declared capability.RequirementSet
		may      func(capability.Compiled) bool
		want     bool
	}{
		{"read inside", everything, func(c capability.Compiled) bool { return c.Read("/w/a") }, true},
		{"read what was opened", everything, func(c capability.Compiled) bool { return c.Read("/lib/a") }, true},
		{"read elsewhere", everything, func(c capability.Compiled) bool { return c.Read("/etc/passwd") }, false},
		{"read the agent's data", docs, func(c capability.Compiled) bool { return c.Read("/data/a") }, false},
		{"write inside", everything, func(c capability.Compiled) bool { return c.Write("/w/a") }, true},
		{"write what was opened for reading", everything, func(c capability.Compiled) bool { return c.Write("/lib/a") }, false},
		{"write elsewhere", everything, func(c capability.Compiled) bool { return c.Write("/a") }, false},
		{"a host", everything, func(c capability.Compiled) bool { return c.Host("go.dev") }, true},
		{"commands", everything, func(c capability.Compiled) bool { return c.Has(capability.CapShellRun) }, true},
		{"a capability that the host does not know", everything, func(c capability.Compiled) bool { return c.Has("root") }, false},
		{"a program that is granted to no one", everything, func(c capability.Compiled) bool { return c.Run([]string{"sh"}) }, false},
		{"read what was declared", docs, func(c capability.Compiled) bool { return c.Read("/w/docs/a") }, true},
		{"read what was not", docs, func(c capability.Compiled) bool { return c.Read("/w/src/a") }, false},
		{"write what was not", docs, func(c capability.Compiled) bool { return c.Write("/w/docs/a") }, false},
		{"a host that was not", docs, func(c capability.Compiled) bool { return c.Host("go.dev") }, false},
		{"commands that were not", docs, func(c capability.Compiled) bool { return c.Has(capability.CapShellRun) }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.may(compile(pipeline.Ceiling()).And(compile(tt.declared))); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}

// A call that names a command, a host or a path which its tool did not declare is refused
// before the user is asked (R112).
func TestConfine_Undeclared(t *testing.T) {
	for kind, resource := range map[string]tools.Resource{
		"command": {Kind: tools.Command, Value: "true"},
		"host":    {Kind: tools.Host, Value: "go.dev"},
		"read":    {Kind: tools.PathRead, Value: "a.txt"},
		"write":   {Kind: tools.PathWrite, Value: "a.txt"},
	} {
		t.Run(kind, func(t *testing.T) {
			spec := tools.Spec{Resources: func(_ tools.Args, env tools.Env) []tools.Resource {
				resource := resource
				switch resource.Kind {
				case tools.Command:
					resource.Dir = env.Cwd
				case tools.PathRead, tools.PathWrite:
					resource.Value = env.Abs(resource.Value)
				}
				return []tools.Resource{resource}
			}}
			s := newStage(t, nil, custom(spec, func(context.Context, tools.Runtime) (*tools.Result, error) {
				t.Error("it ran")
				return nil, nil
			}))
			want(t, s.call(t, "custom", object{}), transcript.Rejected, "did not declare")
			if len(s.asked) != 0 {
				t.Errorf("asked %d times", len(s.asked))
			}
		})
	}
}
