package config_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/config"
)

// FuzzLoad holds for every pair of files: no panic, either a config or an error, and a
// project that changes nothing but rules, disabled tools and lower limits.
func FuzzLoad(f *testing.F) {
	for _, seed := range [][2]string{
		{"", ""},
		{`{"model": {"name": "m", "headers": {"A": "b"}, "extra_body": {"x": [1,]}}, "mode": "code"}`, `{"rules": {"deny": ["bash(rm *)"]}}`},
		{"// c\n{\"limits\": {\"max_steps\": 5, \"bash_timeout\": \"1s\"}}", `{"limits": {"max_steps": 9, "concurrent": 1, "bash_timeout": "0s"}, "tools": {"disable": ["a"]}}`},
		{`{"roots": {"read": ["~/a"], "write": ["/b"]}}`, `{"roots": {}}`},
		{`{"rules": {"allow": [{"permission": "a", "pattern": "b"}, "c(d)"]}}`, `{"rules": {"ask": ["*"]}}`},
		{"\ufeff{}", "[[[["},
		{`{"subagents": {"budget": {"cost": 2, "time": "0s"}}, "agents": {"a": {"cycles": 1}}}`, `{"subagents": {"enabled": false, "depth": 1, "budget": {"cost": 1, "time": "1s", "calls": 0}}}`},
		{`{"a" /*`, `{"mode": null}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, user, project string) {
		files := map[string]string{userFile: user}
		alone, err := config.Load(sources(nil, files), workspace)
		if (alone == nil) != (err != nil) {
			t.Fatalf("config %v and error %v", alone, err)
		}
		if err != nil {
			alone = config.Default()
			delete(files, userFile)
			alone.Roots.Read = sources(nil, nil).PackageCaches()
		}
		files[projectFile] = project
		with, err := config.Load(sources(nil, files), workspace)
		if err != nil {
			return
		}
		a, b := alone.Limits, with.Limits
		if b.MaxSteps > a.MaxSteps || b.Concurrent > a.Concurrent || b.SidecarBytes > a.SidecarBytes ||
			b.Jobs > a.Jobs || b.JobTime.Duration > a.JobTime.Duration || b.JobOutput.Bytes > a.JobOutput.Bytes ||
			b.ToolTimeout.Duration > a.ToolTimeout.Duration ||
			a.BashTimeout.Duration > 0 && (b.BashTimeout.Duration == 0 || b.BashTimeout.Duration > a.BashTimeout.Duration) {
			t.Errorf("the project raised a limit: from %+v to %+v", a, b)
		}
		if with.Project.Allow != nil || len(with.Tools.Disable) < len(alone.Tools.Disable) {
			t.Errorf("the project allows %v and disables %v", with.Project.Allow, with.Tools.Disable)
		}
		with.Offered = alone.Offered // counts only where the user trusts the project
		s, u := alone.Subagents, with.Subagents
		if u.Enabled && !s.Enabled || u.Depth > s.Depth || u.Running > s.Running ||
			raised(s.Budget.Tokens, u.Budget.Tokens) || raised(s.Budget.Cost, u.Budget.Cost) || raised(s.Budget.Time.Duration, u.Budget.Time.Duration) ||
			raised(s.Budget.Calls, u.Budget.Calls) || raised(s.Budget.FanOut, u.Budget.FanOut) {
			t.Errorf("the project raised a limit of subagents: from %+v to %+v", s, u)
		}
		with.Subagents = alone.Subagents
		with.Project, with.Limits, with.Tools, with.Files = alone.Project, alone.Limits, alone.Tools, alone.Files
		if diff := cmp.Diff(alone, with); diff != "" {
			t.Errorf("the project changed more than it may (-without +with):\n%s", diff)
		}
	})
}

// raised reports a limit, of which 0 is none, that holds less than before.
func raised[T int | float64 | time.Duration](before, after T) bool {
	return before > 0 && (after == 0 || after > before)
}
