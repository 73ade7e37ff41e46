package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"acp-agent/commands"
	"acp-agent/kinds"
	"acp-agent/mcp"
	"acp-agent/permissions"
	"acp-agent/permissions/projects"
)

// TrustOffer is what the user reads before trusting a project: what a yes allows, and the files to whose
// content it is bound (T4).
type TrustOffer struct {
	// Dir is the canonical path of the project.
	Dir string
	// Trusted says that the user trusts the project already, since Since.
	Trusted bool
	Since   time.Time
	// Allows says in words what a yes allows, one line each.
	Allows []string
	// Files are the files to whose content trust is bound. Changes are the differences from the
	// content that was trusted before; empty when none was.
	Files   []projects.File
	Changes []projects.Change

	hash string
}

// errNoTrust is why nothing can be decided about a project where nothing is stored.
var errNoTrust = errors.New("decisions about projects are not kept here")

// trustOffer is Session.TrustOffer.
func (p *project) trustOffer() (TrustOffer, error) {
	if p.store == nil {
		return TrustOffer{}, errNoTrust
	}
	p.refresh()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.problem != nil:
		return TrustOffer{}, fmt.Errorf("this project cannot be trusted: %w", p.problem)
	case p.now.Config != p.offer.hash:
		return TrustOffer{}, errors.New("the project's configuration is changing just now; try again")
	}
	offer := TrustOffer{Dir: p.dir, Trusted: p.matchesTrust(), Allows: p.allows(), Files: p.now.Files, hash: p.now.Hash}
	if p.record.Trust != nil {
		offer.Since = p.record.Trust.At
		offer.Changes = projects.Changes(p.record.Trust.Files, p.now.Files)
	}
	return offer, nil
}

// allows says what trust allows, in words; mu is held.
func (p *project) allows() []string {
	list := slices.Clone(p.offer.allows)
	for _, rule := range p.offer.rules {
		line := "a rule of the project: allow " + ruleText(rule)
		if rule.Pattern == "" || rule.Pattern == "*" || rule.Pattern == "**" {
			line += ", whatever it does"
		}
		list = append(list, line)
	}
	if names := slices.DeleteFunc(commands.ProjectNames(p.now), isOwnCommand); len(names) > 0 {
		list = append(list, "you are offered the project's commands, each of which is a prompt that you start: "+commandNames(names))
	}
	for _, server := range p.offer.servers {
		list = append(list, "an MCP server of the project is started, "+describeServer(server)+"; its tools are still asked about")
	}
	return list
}

// describeServer shows the user a server before it starts: all of it but the values of its environment
// and headers (M1).
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

// trust is Session.Trust.
func (p *project) trust(offer TrustOffer) error {
	if p.store == nil {
		return errNoTrust
	}
	now, err := p.snapshot(p.offeredServers())
	if err != nil {
		return err
	}
	if now.Hash != offer.hash {
		return errors.New("the project's configuration changed while you were looking at it; it is not trusted, ask again")
	}
	return p.update(func(r *projects.Record) error {
		r.Trust = &projects.Trust{Hash: now.Hash, At: time.Now().UTC().Truncate(time.Second), Files: now.Files}
		return nil
	})
}

// distrust removes the trust, and reports whether there was any.
func (p *project) distrust() (had bool, err error) {
	err = p.update(func(r *projects.Record) error {
		had = r.RemoveTrust()
		return nil
	})
	return had, err
}

// Text is the offer in Markdown, as the user reads it.
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

// question says in one line what a yes means.
func (o TrustOffer) question() string {
	return fmt.Sprintf("Trust this project, which allows %s without a question", kinds.Count(len(o.Allows), "thing"))
}

// held is the offer without its question, for a project that is trusted already.
func (o TrustOffer) held() string {
	_, rest, _ := strings.Cut(o.Text(), "\n\n")
	return "It allows without a question:\n\n" + rest
}
