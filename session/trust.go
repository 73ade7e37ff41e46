package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"acp-agent/kinds"
	"acp-agent/mcp"
	"acp-agent/permissions"
	"acp-agent/permissions/projects"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// TrustOffer is what a person decides about who is asked whether they trust the
// project: what a yes allows, and the files that it is bound to (T4).
type TrustOffer struct {
	// Dir is the canonical path of the project.
	Dir string
	// Trusted says that they do already, since Since.
	Trusted bool
	Since   time.Time
	// Allows says in words what a yes allows, one line each.
	Allows []string
	// Files are those whose content the trust is bound to. Changes is what differs
	// from what was trusted before; empty when nothing was.
	Files   []projects.File
	Changes []projects.Change

	hash string
}

// errNoTrust is the refusal where decisions cannot be kept.
var errNoTrust = errors.New("decisions about projects are not kept here")

// TrustOffer reads what there is to trust now. It runs nothing. An error says why
// the project cannot be trusted.
func (s *Session) TrustOffer() (TrustOffer, error) {
	if s.project.store == nil {
		return TrustOffer{}, errNoTrust
	}
	s.refreshProject()
	s.project.mu.Lock()
	defer s.project.mu.Unlock()
	p := &s.project
	switch {
	case p.problem != nil:
		return TrustOffer{}, fmt.Errorf("this project cannot be trusted: %w", p.problem)
	case p.now.Config != p.settled:
		return TrustOffer{}, errors.New("the project's configuration is changing just now; try again")
	}
	offer := TrustOffer{Dir: p.dir, Trusted: p.trusted(), Allows: p.allows(), Files: p.now.Files, hash: p.now.Hash}
	if p.record.Trust != nil {
		offer.Since = p.record.Trust.At
		offer.Changes = projects.Changes(p.record.Trust.Files, p.now.Files)
	}
	return offer, nil
}

// allows says what trust allows, in words; mu is held.
func (p *project) allows() []string {
	list := slices.Clone(p.trusting)
	for _, rule := range p.offered {
		line := "a rule of the project: allow " + ruleText(rule)
		if rule.Pattern == "" || rule.Pattern == "*" || rule.Pattern == "**" {
			line += ", whatever it does"
		}
		list = append(list, line)
	}
	for _, server := range p.servers {
		list = append(list, "an MCP server of the project is started, "+describeServer(server)+"; its tools are still asked about")
	}
	return list
}

// describeServer is what a person has to know of a server before it is started: all but
// the values of its environment and headers (M1).
func describeServer(s mcp.Server) string {
	if s.Command == "" {
		return fmt.Sprintf("%s at %s", code(s.Name), whole(s.URL))
	}
	text := fmt.Sprintf("%s by %s", code(s.Name), whole(permissions.QuoteArgs(append([]string{s.Command}, s.Args...))))
	var names []string
	for _, variable := range s.Env {
		name, _, _ := strings.Cut(variable, "=")
		names = append(names, whole(name))
	}
	if len(names) > 0 {
		text += " with " + strings.Join(names, ", ") + " set"
	}
	return text
}

// whole is code that nothing is cut from and nothing changed in, for what a yes lets run
// (O1): a long blank would hide what stands behind it. It has one line, and what stands in
// it cannot end it.
func whole(text string) string {
	text = kinds.Visible(strings.NewReplacer("\n", `\u{a}`, "\t", `\u{9}`).Replace(text))
	ticks := "`"
	for strings.Contains(text, ticks) {
		ticks += "`"
	}
	if len(ticks) > 1 {
		return ticks + " " + text + " " + ticks
	}
	return ticks + text + ticks
}

// Trust stores that the person trusts the project with the content that they were
// shown. When it changed meanwhile that is an error, and nothing is trusted.
func (s *Session) Trust(offer TrustOffer) error {
	if s.project.store == nil {
		return errNoTrust
	}
	s.project.mu.Lock()
	servers := s.project.servers
	s.project.mu.Unlock()
	now, err := snapshot(offer.Dir, servers)
	if err != nil {
		return err
	}
	if now.Hash != offer.hash {
		return errors.New("the project's configuration changed while you were looking at it; it is not trusted, ask again")
	}
	err = s.project.store.Update(offer.Dir, func(r *projects.Record) error {
		r.Trust = &projects.Trust{Hash: now.Hash, At: time.Now().UTC().Truncate(time.Second), Files: now.Files}
		return nil
	})
	s.refreshProject()
	return err
}

// Distrust takes the trust back and reports whether there was any.
func (s *Session) Distrust() (had bool, err error) {
	if s.project.store == nil {
		return false, errNoTrust
	}
	err = s.project.store.Update(s.project.dir, func(r *projects.Record) error {
		had = r.RemoveTrust()
		return nil
	})
	s.refreshProject()
	return had, err
}

// Text is the offer as it is put to the person, in Markdown.
func (o TrustOffer) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Trust %s? A yes allows without a question, in all sessions in this directory:\n\n", code(o.Dir))
	for _, line := range o.Allows {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	b.WriteString("\nIt never lifts a deny, nor a finding that a command is dangerous, and it opens no directory and no host.\n")
	if len(o.Files) == 0 {
		b.WriteString("\nIt is bound to the project having no configuration of its own; when there is some, you are asked again.\n")
	} else {
		b.WriteString("\nIt is bound to the content of these files; when one changes, you are asked again:\n\n")
		for _, f := range o.Files {
			fmt.Fprintf(&b, "- %s\n", code(f.Name))
		}
	}
	if !o.Trusted && len(o.Changes) > 0 {
		b.WriteString("\n" + o.differences())
	}
	return b.String()
}

// maxDifferences bounds the differences that a card shows, in bytes.
const maxDifferences = 32 << 10

// differences shows what changed since the project was trusted.
func (o TrustOffer) differences() string {
	var b, diffs strings.Builder
	fmt.Fprintf(&b, "Since you trusted it (%s):\n\n", o.Since.Format(time.RFC3339))
	hidden := 0
	for _, c := range o.Changes {
		fmt.Fprintf(&b, "- %s is %s\n", code(c.Name), c.What)
		switch {
		case c.Diff == "":
			hidden++
		case diffs.Len()+len(c.Diff) > maxDifferences:
			hidden++
		default:
			diffs.WriteString(c.Diff)
		}
	}
	if diffs.Len() > 0 {
		b.WriteString("\n" + kinds.Fence("diff", kinds.Visible(diffs.String())) + "\n")
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "\nThe difference of %s is not shown: too long, or not text.\n", kinds.Count(hidden, "file"))
	}
	return b.String()
}

// code makes one line of code of a text that a project chose.
func code(text string) string { return kinds.Code(text, lineRunes) }

// trustCommand is /trust.
func (s *Session) trustCommand(ctx context.Context, words []string) string {
	switch {
	case len(words) == 1 && words[0] == "off":
		had, err := s.Distrust()
		switch {
		case err != nil:
			return "The trust could not be taken back: " + err.Error()
		case !had:
			return "This project was not trusted."
		}
		return "This project is not trusted any more."
	case len(words) > 0:
		return "Usage: `/trust` shows what trust in this project allows and asks you; `/trust off` takes it back."
	}
	offer, err := s.TrustOffer()
	switch {
	case err != nil:
		return kinds.Visible(err.Error())
	case offer.Trusted:
		return fmt.Sprintf("You trust this project since %s. `/trust off` takes that back.\n\n%s", offer.Since.Format(time.RFC3339), offer.held())
	case s.spec.Asker == nil:
		return "There is nobody here to ask. Run `acp-agent trust` in a terminal."
	}
	return s.askTrust(ctx, offer)
}

// question says in one line what a yes means.
func (o TrustOffer) question() string {
	return fmt.Sprintf("Trust this project, which allows %s without a question", kinds.Count(len(o.Allows), "thing"))
}

// held lists what trust allows and is bound to.
func (o TrustOffer) held() string {
	_, rest, _ := strings.Cut(o.Text(), "\n\n")
	return "It allows without a question:\n\n" + rest
}

// askTrust puts the offer to the person, as a call of its own that no model sees.
func (s *Session) askTrust(ctx context.Context, offer TrustOffer) string {
	id := s.host.IDs.New(transcript.CallPrefix)
	card := kinds.Card{Kind: kinds.Other, Title: "Trust this project", Content: []kinds.Content{kinds.Text{Text: offer.Text()}}}
	ready := transcript.ToolReady{CallID: id, Tool: trustName, Card: card}
	s.emit(transcript.ToolStarted{CallID: id, Name: trustName, Tool: trustName})
	s.emit(ready)
	answer, err := s.spec.Asker.Ask(ctx, tools.PermissionRequest{
		CallID: id, Name: trustName, Ready: ready, Reason: "you typed /trust",
		Choices: &tools.Choices{Question: offer.question(), Allow: "Trust this project", Reject: "Do not trust it"},
	})
	text, state := "This project is not trusted.", transcript.Rejected
	switch {
	case ctx.Err() != nil:
		text, state = pipeline.CancelledText, transcript.Cancelled
	case err != nil:
		text = "The editor could not ask you, so this project is not trusted. Run `acp-agent trust` in a terminal."
	case answer == tools.AllowOnce:
		if err := s.Trust(offer); err != nil {
			text = "This project is not trusted: " + kinds.Visible(err.Error())
			break
		}
		text, state = "This project is trusted as it is now. `/trust off` takes that back.", transcript.Done
	}
	end := pipeline.Unrun(id, trustName, state, text)
	end.Card = card
	if state == transcript.Done {
		end.Result = transcript.Envelope{Type: transcript.Output}
	} else {
		end.Card.Content = nil // what was offered does not hold
		end.Result.Error = &transcript.ErrorDetail{Kind: string(tools.Denied), DeniedBy: tools.DeniedByUser}
	}
	s.emit(end)
	return text
}

// trustName is the name of the call that /trust shows.
const trustName = "trust"
