package session

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"acp-agent/audit"
	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/permissions/projects"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
	"acp-agent/workspace"
)

// ListedRule is a rule in force, as /permissions lists it.
type ListedRule struct {
	// Number names the rule in /permissions revoke and keep; 0 for a rule that stands in a file
	// or is shipped.
	Number int
	Scope  permissions.Scope
	Rule   permissions.Rule
	// Agents are the names from below the main agent down to the subagent for which alone the
	// rule holds; none for a rule of the session.
	Agents []string
	// Refused says that it is not a rule, but what a user said, or did not say in time, of a host that an MCP
	// server reached for: it can only be taken back.
	Refused bool
	// Opened says that it is not a rule, but a directory outside the session's ones that an answer opened for
	// reading: it can only be taken back.
	Opened bool
	// Void says that the rule does not count, because its tool has changed since the answer (M4).
	Void bool
}

// Where says in words where the rule stands.
func (l ListedRule) Where() string {
	switch {
	case len(l.Agents) > 0:
		return "your answer to " + transcript.PathText(l.Agents)
	case l.Opened, l.Scope == permissions.Session && (l.Rule.Source == permissions.SourceAlways || l.Rule.Source == pipeline.SourceAnswer):
		return "your answer in this session"
	case l.Scope == permissions.Project && l.Rule.Source == permissions.SourceAlways:
		return "kept for this project"
	case l.Scope == permissions.DefaultScope:
		return "shipped"
	}
	if l.Rule.Source == "" {
		return l.Scope.String()
	}
	return l.Rule.Source
}

// text is what it is about, in Markdown, as people write it.
func (l ListedRule) text() string {
	if l.Opened {
		return "reading in " + code(l.Rule.Pattern)
	}
	return ruleText(l.Rule)
}

// ruleBook lists the rules in force, and changes the rules that the user's answers added.
type ruleBook struct {
	project *project
	below   *agentPolicies // the rules of subagents
	policy  *pipeline.Policy
	// registry holds the agent's own tools.
	registry *tools.Registry
	// identity is what an answer about a tool is bound to.
	identity func(tool string) permissions.Identity
	audit    *audit.Log // nil when none is kept
	// hosts has what the user said of the hosts of MCP servers.
	hosts *serverHosts
	mode  func() permissions.Mode
	// work has the directories that answers to the main agent opened.
	work *workspace.Workspace

	mu    sync.Mutex   // guards shown
	shown []ListedRule // the list that /permissions showed last
}

// rules lists the rules in force: first the rules that the user's answers added, with numbers, then the
// others, the strongest scope first.
func (b *ruleBook) rules() []ListedRule {
	set := b.policy.Rules()
	var kept, files []ListedRule
	for _, scope := range []permissions.Scope{permissions.Project, permissions.Session} {
		for _, rule := range set.In(scope) {
			if scope == permissions.Session || rule.Source == permissions.SourceAlways {
				kept = append(kept, ListedRule{Number: len(kept) + 1, Scope: scope, Rule: rule})
			}
		}
	}
	for _, f := range b.below.inUse() {
		for _, rule := range f.answers() {
			kept = append(kept, ListedRule{Number: len(kept) + 1, Scope: permissions.Session, Rule: rule, Agents: f.names})
		}
	}
	for _, f := range b.below.expectedAnswers() {
		for _, rule := range f.Rules {
			kept = append(kept, ListedRule{Number: len(kept) + 1, Scope: permissions.Session, Rule: rule, Agents: f.Names})
		}
	}
	for _, rule := range b.hosts.refused() {
		kept = append(kept, ListedRule{Number: len(kept) + 1, Scope: permissions.Session, Rule: rule, Refused: true})
	}
	for _, rule := range b.openedDirs() {
		kept = append(kept, ListedRule{Number: len(kept) + 1, Scope: permissions.Session, Rule: rule, Opened: true})
	}
	for _, scope := range []permissions.Scope{permissions.Project, permissions.User, permissions.Manifest, permissions.DefaultScope} {
		for _, rule := range set.In(scope) {
			if scope == permissions.DefaultScope && !b.shippedTool(rule.Permission) {
				continue
			}
			if scope != permissions.Project || rule.Source != permissions.SourceAlways {
				files = append(files, ListedRule{Scope: scope, Rule: rule})
			}
		}
	}
	for i := range kept {
		kept[i].Void = b.void(kept[i].Rule)
	}
	return append(kept, files...)
}

// openedDirs are the directories that answers opened, as the rules that they amount to.
func (b *ruleBook) openedDirs() (rules []permissions.Rule) {
	if b.work == nil {
		return nil
	}
	for _, dir := range b.work.OpenedDirs() {
		at := dir.At.UTC().Truncate(time.Second)
		rules = append(rules, permissions.Rule{Permission: "read", Pattern: dir.Path, Action: capability.Allow, Source: permissions.SourceAlways, AddedAt: at})
	}
	return rules
}

// shippedTool reports whether a shipped rule is about a tool of this build; some are about tools that
// other builds have.
func (b *ruleBook) shippedTool(name string) bool {
	_, there := b.registry.Get(name)
	return there || strings.Contains(name, "*")
}

// void reports whether a rule is an answer about a tool from elsewhere that has changed since.
func (b *ruleBook) void(rule permissions.Rule) bool {
	if rule.Source != permissions.SourceAlways {
		return false
	}
	now := b.identity(rule.Permission)
	return now != permissions.Identity{} && !now.Same(rule.For)
}

// revoke removes a rule that an answer of the user added. The rule is compared as a whole, so that no
// other one is removed that has taken its number since.
func (b *ruleBook) revoke(listed ListedRule) error {
	gone := fmt.Errorf("%s is no longer in force", listed.text())
	switch {
	case listed.Number == 0:
		return fmt.Errorf("%s stands in %s; take it out there", ruleText(listed.Rule), listed.Where())
	case listed.Refused:
		if !b.hosts.takeBack(listed.Rule) {
			return gone
		}
		return nil
	case listed.Opened:
		if !b.work.CloseDir(listed.Rule.Pattern) {
			return gone
		}
		return nil
	case len(listed.Agents) > 0:
		for _, f := range b.below.inUse() {
			if slices.Equal(f.names, listed.Agents) && f.policy.Forget(listed.Rule) {
				return nil
			}
		}
		if b.below.forgetExpected(listed.Agents, listed.Rule) {
			return nil
		}
		return gone
	case listed.Scope == permissions.Session:
		if !b.policy.Forget(listed.Rule) {
			return gone
		}
		return nil
	}
	had := false
	err := b.project.update(func(r *projects.Record) error {
		had = r.RemoveRule(listed.Rule)
		return nil
	})
	if err == nil && !had {
		return gone
	}
	return err
}

// keepForProject keeps a rule for the project that an answer of the user added for this session, as the
// answer "for this project" does (R152).
func (b *ruleBook) keepForProject(listed ListedRule) error {
	policy := b.policyOf(listed)
	switch rule := listed.Rule; {
	case b.project.store == nil:
		return errNoTrust
	case listed.Scope == permissions.Project && rule.Source == permissions.SourceAlways:
		return fmt.Errorf("%s is kept for this project already", ruleText(rule))
	case listed.Opened:
		return fmt.Errorf("%s holds for this session only: the directory lies outside the project", listed.text())
	case listed.Number == 0:
		return fmt.Errorf("%s stands in %s; only what you allowed in this session can be kept", ruleText(rule), listed.Where())
	case rule.Action != capability.Allow || rule.Source != permissions.SourceAlways:
		return fmt.Errorf("you rejected %s; only what you allowed in this session can be kept", ruleText(rule))
	case b.void(rule):
		return fmt.Errorf("%s does not count: the tool has changed since your answer", ruleText(rule))
	case policy == nil && slices.ContainsFunc(b.below.expectedAnswers(), func(f storedAnswers) bool { return slices.Equal(f.Names, listed.Agents) }):
		return fmt.Errorf("%s was your answer before this session was opened again; it can be kept once that agent runs", ruleText(rule))
	case policy == nil || !slices.Contains(policy.Rules().In(permissions.Session), rule):
		return fmt.Errorf("%s is no longer in force", ruleText(rule))
	case !policy.MayStore(rule):
		return fmt.Errorf("%s holds for this session only: a file of the project asks about it, "+
			"or the answer opened a directory outside the project", ruleText(rule))
	}
	kept := listed.Rule
	kept.AddedAt = time.Now().UTC().Truncate(time.Second)
	if err := b.project.storeRules([]permissions.Rule{kept}); err != nil {
		return err
	}
	policy.Forget(listed.Rule) // else the user would have to revoke it twice
	b.recordKept(listed)
	return nil
}

// policyOf is the policy that has a listed rule of the session; nil when its subagent has not run.
func (b *ruleBook) policyOf(listed ListedRule) *pipeline.Policy {
	if len(listed.Agents) == 0 {
		return b.policy
	}
	for _, f := range b.below.inUse() {
		if slices.Equal(f.names, listed.Agents) {
			return f.policy
		}
	}
	return nil
}

// recordKept records in the audit that the user kept a rule (R129).
func (b *ruleBook) recordKept(listed ListedRule) {
	if b.audit == nil {
		return
	}
	b.audit.Append(audit.Record{
		Event: audit.Kept, Tool: listed.Rule.Permission, Touches: []string{listed.Rule.Pattern}, Workspace: b.project.dir,
		Verdict: "allow", By: "person: allow_project", Reason: "kept for the project by /permissions keep", Mode: string(b.mode()),
	})
}

// newestAnswer is the rule that the user's latest answer added for this session.
func (b *ruleBook) newestAnswer() (newest ListedRule, err error) {
	for _, l := range b.rules() {
		if l.Number == 0 || l.Opened || l.Scope != permissions.Session || l.Rule.Action != capability.Allow {
			continue
		}
		if newest.Number == 0 || !l.Rule.AddedAt.Before(newest.Rule.AddedAt) {
			newest = l
		}
	}
	if newest.Number == 0 {
		return newest, errors.New("you have not allowed anything for this session; choose “Allow for this session” when you are asked, then keep it")
	}
	return newest, nil
}

// show notes the list that the user sees, to which the numbers refer from now on.
func (b *ruleBook) show(list []ListedRule) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shown = list
}

// numbered is the rule with a number of the list that was shown last.
func (b *ruleBook) numbered(number string) (ListedRule, error) {
	b.mu.Lock()
	listed := b.shown
	b.mu.Unlock()
	if listed == nil {
		b.project.refresh()
		listed = b.rules()
	}
	n, err := strconv.Atoi(strings.TrimSuffix(number, "."))
	i := slices.IndexFunc(listed, func(l ListedRule) bool { return err == nil && n > 0 && l.Number == n })
	if i < 0 {
		return ListedRule{}, fmt.Errorf("there is no rule with the number %s; `/permissions` lists them", code(number))
	}
	return listed[i], nil
}
