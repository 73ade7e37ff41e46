package pipeline_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"acp-agent/audit"
	"acp-agent/capability"
	"acp-agent/internal/redact"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
	"acp-agent/workspace"
)

// records keeps what is appended, and what stood in a file at that moment.
type records struct {
	list   []audit.Record
	file   string
	then   []string
	synced []string // what stood in the file when a sync ended
}

func (r *records) Append(record audit.Record) {
	text, _ := os.ReadFile(r.file) // one that is not there is ""
	r.list, r.then = append(r.list, record), append(r.then, string(text))
}

func (r *records) Sync() {
	text, _ := os.ReadFile(r.file)
	r.synced = append(r.synced, string(text))
}

// R129: who decided is recorded, and what may change something is recorded before it
// does.
func TestAudit_Records(t *testing.T) {
	kept := &records{}
	s := newStage(t, func(o *pipeline.Options) { o.Audit, o.Agent = kept, "main" })
	kept.file = filepath.Join(s.dir, "a.txt")
	s.write(t, "a.txt", "one\n")
	s.answers = []tools.Answer{tools.AllowOnce, tools.RejectOnce}
	s.policy.Remember(permissions.Rule{Permission: "read", Pattern: "never.txt", Action: capability.Deny, Source: "here"})

	want(t, s.call(t, "read", object{"path": "a.txt"}), transcript.Done, "")
	want(t, s.call(t, "edit", object{"path": "a.txt", "old_str": "one", "new_str": "two"}), transcript.Done, "")
	want(t, s.call(t, "write", object{"path": "b.txt", "content": "x"}), transcript.Rejected, "")
	want(t, s.call(t, "read", object{"path": "never.txt"}), transcript.Rejected, "")
	want(t, s.call(t, "read", object{"path": ".env"}), transcript.Failed, "")
	want(t, s.call(t, "read", object{}), transcript.Failed, "")

	tests := []struct {
		event, tool, verdict, by string
		file                     string // at that moment
		changes                  int
	}{
		{audit.End, "read", "allow", "rule:defaults read", "one\n", 0},
		{audit.Begin, "edit", "allow", "person: allow_once", "one\n", 0},
		{audit.End, "edit", "allow", "person: allow_once", "two\n", 1},
		{audit.End, "write", "deny", "person: reject_once", "two\n", 0},
		{audit.End, "read", "deny", "rule:session", "two\n", 0},
		{audit.End, "read", "deny", "secret", "two\n", 0},
		{audit.End, "read", "", "", "two\n", 0},
	}
	if len(kept.list) != len(tests) {
		t.Fatalf("%d records: %+v", len(kept.list), kept.list)
	}
	for i, test := range tests {
		r := kept.list[i]
		if r.Event != test.event || r.Tool != test.tool || r.Verdict != test.verdict || !strings.HasPrefix(r.By, test.by) || r.Agent != "main" {
			t.Errorf("record %d: %+v, want %+v", i, r, test)
		}
		if kept.then[i] != test.file || len(r.Changes) != test.changes {
			t.Errorf("record %d: the file held %q, %d changes", i, kept.then[i], len(r.Changes))
		}
	}
	if !slices.Equal(kept.synced, []string{"one\n"}) {
		t.Errorf("the record of the edit alone is to be synced, before it: the file held %q", kept.synced)
	}
	change := kept.list[2].Changes[0]
	if change.Op != "modify" || change.Path != filepath.Join(s.Workspace.Session().Roots[0], "a.txt") ||
		change.Before != "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806" ||
		change.After != "27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a" {
		t.Errorf("%+v", change)
	}
	if asked := kept.list[1].Asked; !strings.Contains(asked, "edit") {
		t.Errorf("asked %q", asked)
	}
}

// What a subagent changed is recorded with its own call, and is named, and taken back, by
// the call that delegated to it (R128, R129).
func TestAudit_Delegated(t *testing.T) {
	kept := &records{}
	var s *stage
	s = newStage(t, func(o *pipeline.Options) { o.Audit, o.Agent = kept, "main" }, custom(tools.Spec{},
		func(ctx context.Context, rt tools.Runtime) (*tools.Result, error) {
			o := s.Options
			o.Agent = "main/explore"
			o.Workspace = s.Workspace.Delegate(workspace.Delegate{Agent: o.Agent, Parent: rt.CallID()})
			defer o.Workspace.Release()
			child := pipeline.New(o)
			child.Run(ctx, child.Prepare(pipeline.Call{ID: "call_2", Name: "write", Input: `{"path":"a.txt","content":"x\n"}`}), s)
			return nil, nil
		}))
	for _, tool := range []string{"custom", "write"} {
		s.policy.Remember(permissions.Rule{Permission: tool, Pattern: "*", Action: capability.Allow})
	}
	path := filepath.Join(s.dir, "a.txt")
	end := s.call(t, "custom", object{})
	want(t, end, transcript.Done, "")
	if !slices.Equal(end.Result.Metadata.TrackFiles, []string{path}) {
		t.Errorf("changed files %q", end.Result.Metadata.TrackFiles)
	}
	got := map[string]audit.Change{}
	for _, r := range kept.list {
		if r.Event == audit.End && len(r.Changes) == 1 {
			got[r.Agent+" "+r.Call] = r.Changes[0]
		}
	}
	below := got["main/explore call_2"]
	if len(got) != 2 || below.Op != "create" || below.Path != path || below.After == "" ||
		got["main call_1"] != (audit.Change{Path: path, Op: "reported"}) {
		t.Errorf("recorded %+v", got)
	}
	if failed := s.Workspace.Rollback(t.Context(), "call_1"); len(failed) > 0 {
		t.Error(failed)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

// Our own keys are in nothing that leaves the pipeline.
func TestKeys_InNoResult(t *testing.T) {
	const key = "key-of-ours-0123456789"
	keys := &redact.Values{}
	keys.Add(key)
	s := newStage(t, func(o *pipeline.Options) { o.Keys = keys })
	s.answers = slices.Repeat([]tools.Answer{tools.AllowOnce}, 3)
	s.write(t, "a.txt", "say "+key+" twice "+key+"\n")
	s.write(t, key+".txt", "")
	for _, end := range []transcript.ToolFinished{
		s.call(t, "read", object{"path": "a.txt"}),
		s.call(t, "grep", object{"pattern": "ours"}),
		s.call(t, "glob", object{"filePattern": "*.txt"}),
		s.call(t, "edit", object{"path": "a.txt", "old_str": "say", "new_str": "tell"}),
		s.call(t, "read", object{"path": "no-" + key}),
	} {
		text := end.Text + string(end.Result.Data) + end.Result.ErrorText + end.Card.Title
		if detail := end.Result.Error; detail != nil {
			text += detail.AbsolutePath
		}
		if strings.Contains(text, key) || !strings.Contains(text, redact.Mask) {
			t.Errorf("%s", text)
		}
	}
	if text, err := os.ReadFile(filepath.Join(s.dir, "a.txt")); err != nil || string(text) != "tell "+key+" twice "+key+"\n" {
		t.Errorf("the file itself: %q, %v", text, err)
	}
}
