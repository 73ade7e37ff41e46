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

// Auditor records what calls asked for, what decided about them, and what they
// changed (R129). Append returns at once, Sync when the records are on the disk. Neither returns an
// error, because no call depends on them. They may be called at the same time.
type Auditor interface {
	Append(audit.Record)
	Sync()
}

// maxTouched bounds how many of a call's resources a record names.
const maxTouched = 100

// recordBegin notes that a call which may change something is about to run. The record is on the
// disk when wait returns; until then, the caller can write other things.
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

// recordEnd notes how a call ended.
func (r *reporter) recordEnd(end transcript.ToolFinished) {
	if r.pipeline.Audit == nil {
		return
	}
	record := r.record(audit.End)
	record.State = string(end.State)
	if detail := end.Result.Error; detail != nil {
		// The text of a failure may quote a file.
		record.Error = strings.TrimSpace(detail.Kind + " " + detail.Code)
	}
	switch detail := end.Result.Error; {
	case r.execution.runtime != nil:
		record.Verdict, record.By, record.Reason = "allow", r.approval.allowedBy(), r.judgement.decision.Reason
		record.Changes, record.Unseen = r.changes(end), end.Result.Metadata.Unseen
	case detail == nil:
	case end.State == transcript.Rejected:
		record.Verdict, record.By, record.Reason = "deny", r.approval.deniedBy(detail.DeniedBy), r.deniedFor(end)
	case detail.Code == tools.CodeSecretFile:
		record.Verdict, record.By, record.Reason = "deny", permissions.DeniedBySecret, permissions.SecretReason
	}
	r.pipeline.Audit.Append(record)
}

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

// given returns the arguments for the record; those of a faulty call may not be JSON.
func (r *reporter) given() any {
	if len(r.Args) == 0 {
		return nil
	}
	value, err := r.args.Value()
	if err != nil {
		return string(r.Args) // of which the record keeps hash and size
	}
	return value
}

// allowedBy names the answer or the rule that let the call run.
func (a *approval) allowedBy() string {
	switch rule := a.judgement.decision.Rule; {
	case a.answer != "":
		return "person: " + a.answer
	case rule != nil:
		return fmt.Sprintf("rule:%s %s(%s) %s", a.judgement.decision.Scope, rule.Permission, rule.Pattern, rule.Source)
	}
	return "policy"
}

// deniedBy names what kept the call from running.
func (a *approval) deniedBy(layer string) string {
	if layer == tools.DeniedByUser && a.answer != "" {
		return "person: " + a.answer
	}
	return layer
}

// deniedFor returns the first line of a refusal.
func (r *reporter) deniedFor(end transcript.ToolFinished) string {
	first, _, _ := strings.Cut(end.Result.ErrorText, "\n")
	return first
}

// changes are the files that the call changed, with what stood there before and
// after as far as it is known. Of what a subagent changed only the paths are, for the
// records of its own calls have the rest.
func (r *reporter) changes(end transcript.ToolFinished) []audit.Change {
	var list []audit.Change
	for _, c := range r.pipeline.Workspace.History().OwnChanges(r.ID) {
		list = append(list, audit.Change{
			Path: c.Path, Op: string(c.Kind), Before: sumOf(c.Before), After: sumOf(c.After), Seen: c.Seen, Undo: c.Undo,
		})
	}
	for _, path := range end.Result.Metadata.TrackFiles { // what the tool, or a subagent, says
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

// answerName is a user's answer as the record has it.
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
