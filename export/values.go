package export

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// How single values are shown in every form.

// stamp is how times stand in an export.
func stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02 15:04 UTC")
}

// usageText says what was used, in words.
func usageText(u transcript.Usage) string {
	parts := []string{thousands(u.Input+u.CacheRead+u.CacheWrite) + " in"}
	if u.CacheRead > 0 {
		parts[0] += " (" + thousands(u.CacheRead) + " from the cache)"
	}
	return strings.Join(append(parts, thousands(u.Output+u.Reasoning)+" out"), ", ")
}

// thousands writes a number with a comma between each three digits.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func dollars(cost float64) string {
	if cost < 0.01 {
		return fmt.Sprintf("$%.4f", cost)
	}
	return fmt.Sprintf("$%.2f", cost)
}

// childText says how a subagent ended, and what it took.
func childText(r transcript.ChildRecord) string {
	text := string(r.State)
	if !r.Ended.IsZero() {
		text += ", " + r.Elapsed(r.Ended).Round(time.Second).String()
	}
	if r.Calls > 0 {
		text += ", " + kinds.Count(r.Calls, "tool call")
	}
	if r.Usage.Total() > 0 {
		text += ", " + thousands(r.Usage.Total()) + " tokens"
	}
	return text
}

// stateText is how a call stands, in words.
func stateText(s transcript.State) string {
	switch s {
	case transcript.Queued:
		return "not run"
	case transcript.BlockedOnUser:
		return "waits for you"
	case transcript.InProgress:
		return "runs"
	case transcript.Done:
		return "done"
	case transcript.Failed:
		return "failed"
	case transcript.Cancelled:
		return "cancelled"
	case transcript.Rejected:
		return "rejected"
	}
	return string(s)
}

// shortPath is a path as it is shown: relative to the session's directory.
func shortPath(c Conversation, name string) string {
	return kinds.Place{Cwd: c.Info.Cwd}.Rel(strings.TrimPrefix(name, "[project]/"))
}

// unified is a change as a unified diff.
func unified(d kinds.Diff) string {
	before, from := "", "/dev/null"
	if d.Old != nil {
		before, from = *d.Old, "before"
	}
	text := udiff.Unified(from, "after", before, d.New)
	if text == "" {
		text = "(no change)"
	}
	return text
}

// imageText describes an image that is not shown.
func imageText(mediaType, data string) string {
	if data == "" {
		return "a picture, taken out"
	}
	size := base64.StdEncoding.DecodedLen(len(data))
	return fmt.Sprintf("a picture, %s, %d KB", mediaTypeText(mediaType), (size+1023)/1024)
}

// mediaTypeText is a media type, or says that it is not one.
func mediaTypeText(mediaType string) string {
	if strings.Trim(strings.ToLower(mediaType), "abcdefghijklmnopqrstuvwxyz0123456789/+.-") != "" {
		return "of an unknown type"
	}
	return kinds.Line(mediaType, 40)
}
