package pipeline

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"acp-agent/audit"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace/undo/journal"
)

// Auditor records what calls asked for, who decided about them, and what they changed (R129). Append
// returns at once, Sync when the records are on the disk. They return no error, because no call
// depends on them. Both are safe for concurrent use.
type Auditor interface {
	Append(audit.Record)
	Sync()
}

// maxTouched bounds how many resources of a call a record names.
const maxTouched = 100

// recordBegin records that a call that may change something is about to run. The record is on the disk
// when wait returns; until then the caller can do other work.
func (r *reporter) recordBegin() (wait func()) {
	if r.pipeline.Audit == nil || r.entry.ReadOnly || r.judgement.access.readsOnly {
		return func() {}
	}
	record := r.record(audit.Begin)
	record.Verdict, record.By, record.Reason = "allow", r.approval.allowedBy(), r.judgement.decision.Reason
	r.pipeline.Audit.Append(record)
	var syncing sync.WaitGroup
	syncing.Go(r.pipeline.Audit.Sync)
	return syncing.Wait
}

// recordEnd records how a call ended.
func (r *reporter) recordEnd(end transcript.ToolFinished) {
	if r.pipeline.Audit == nil {
		return
	}
	record := r.record(audit.End)
	record.State = string(end.State)
	detail := end.Result.Error
	if detail != nil {
		// Without the text of the failure, which may quote a file.
		record.Error = strings.TrimSpace(detail.Kind + " " + detail.Code)
	}
	switch {
	case r.execution.runtime != nil:
		record.Verdict, record.By, record.Reason = "allow", r.approval.allowedBy(), r.judgement.decision.Reason
		record.Changes, record.Unseen = r.changes(end), end.Result.Metadata.Unseen
	case detail == nil:
	case end.State == transcript.Rejected:
		record.Verdict, record.By, record.Reason = "deny", r.approval.deniedBy(detail.DeniedBy), deniedFor(end)
	case detail.Code == tools.CodeSecretFile:
		record.Verdict, record.By, record.Reason = "deny", permissions.DeniedBySecret, permissions.SecretReason
	}
	r.pipeline.Audit.Append(record)
}

// record returns the part that all records of a call have.
func (r *reporter) record(event string) audit.Record {
	record := audit.Record{
		Event: event, Call: r.ID, Agent: r.pipeline.Agent, Tool: r.Tool, Given: r.given(), Asked: r.approval.asked,
		Mode: r.pipeline.mode(), Workspace: r.pipeline.Workspace.Session().Cwd,
	}
	if r.entry != nil && r.entry.Foreign() {
		record.Source, record.Server, record.Name = r.entry.Source.Kind, r.entry.Source.Server, r.entry.Source.Name
	}
	for _, resource := range r.judgement.judged.Resources {
		if len(record.Touches) < maxTouched && !slices.Contains(record.Touches, resource.Name) {
			record.Touches = append(record.Touches, resource.Name)
		}
	}
	return record
}

// recordHost records what was decided about a host.
func (c *connections) recordHost(record audit.Record) {
	if c.pipeline.Audit == nil {
		return
	}
	record.Call, record.Agent, record.Tool = c.ID, c.pipeline.Agent, c.Tool
	record.Mode, record.Workspace = c.pipeline.mode(), c.pipeline.Workspace.Session().Cwd
	c.pipeline.Audit.Append(record)
}

// given returns the arguments for the record. The arguments of a faulty call may not be JSON.
func (r *reporter) given() any {
	if len(r.Args) == 0 {
		return nil
	}
	value, err := r.args.Value()
	if err != nil {
		return string(r.Args) // the audit stores only its hash and size
	}
	return value
}

// allowedBy names the answer or the rule that let the call run.
func (a *approval) allowedBy() string {
	if a.answer != "" {
		return "person: " + a.answer
	}
	return ruleName(a.judgement.decision)
}

// ruleName names the rule that decided; "policy" where none did.
func ruleName(d permissions.Decision) string {
	if d.Rule == nil {
		return "policy"
	}
	return fmt.Sprintf("rule:%s %s(%s) %s", d.Scope, d.Rule.Permission, d.Rule.Pattern, d.Rule.Source)
}

// deniedBy names the answer or the layer that denied the call.
func (a *approval) deniedBy(layer string) string {
	if layer == tools.DeniedByUser && a.answer != "" {
		return "person: " + a.answer
	}
	return layer
}

// deniedFor returns the first line of a refusal.
func deniedFor(end transcript.ToolFinished) string {
	first, _, _ := strings.Cut(end.Result.ErrorText, "\n")
	return first
}

// changes returns the files that the call changed, with the digests before and after as far as they are
// known. For changes by a subagent there are only paths; the records of the subagent's calls have
// the digests.
func (r *reporter) changes(end transcript.ToolFinished) []audit.Change {
	var list []audit.Change
	for _, c := range r.pipeline.Workspace.History().OwnChanges(r.ID) {
		list = append(list, audit.Change{
			Path: c.Path, Op: string(c.Kind), Before: sumOf(c.Before), After: sumOf(c.After), Seen: c.Seen, Undo: c.Undo,
		})
	}
	for _, path := range end.Result.Metadata.TrackFiles { // reported by the tool or by a subagent
		if !slices.ContainsFunc(list, func(c audit.Change) bool { return c.Path == path }) {
			list = append(list, audit.Change{Path: path, Op: "reported"})
		}
	}
	return list
}

func sumOf(c *journal.Content) string {
	if c == nil {
		return ""
	}
	return hex.EncodeToString(c.Sum[:])
}

// answerName returns the name of a user's answer in records.
func answerName(answer tools.Answer) string {
	switch answer {
	case tools.AllowOnce:
		return "allow_once"
	case tools.AllowAlways:
		return "allow_always"
	case tools.AllowProject:
		return "allow_project"
	case tools.AllowOutside:
		return "allow_outside"
	case tools.RejectAlways:
		return "reject_always"
	case tools.Cancelled:
		return "dismissed"
	}
	return "reject_once"
}
