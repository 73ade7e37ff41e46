package session

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"acp-agent/audit"
	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// KeepForProject keeps a rule for the project that an answer of the user allowed for this
// session, as the answer "for this project" does (R152). It is given as Rules listed it.
func (s *Session) KeepForProject(listed ListedRule) error {
	policy := s.policyOf(listed)
	switch rule := listed.Rule; {
	case s.project.store == nil:
		return errNoTrust
	case listed.Scope == permissions.Project && rule.Source == permissions.SourceAlways:
		return fmt.Errorf("%s is kept for this project already", ruleText(rule))
	case listed.Number == 0:
		return fmt.Errorf("%s stands in %s; only what you allowed in this session can be kept", ruleText(rule), listed.Where())
	case rule.Action != capability.Allow || rule.Source != permissions.SourceAlways:
		return fmt.Errorf("you rejected %s; only what you allowed in this session can be kept", ruleText(rule))
	case s.void(rule):
		return fmt.Errorf("%s does not count: the tool has changed since your answer", ruleText(rule))
	case policy == nil || !slices.Contains(policy.Rules().In(permissions.Session), rule):
		return fmt.Errorf("%s is no longer in force", ruleText(rule))
	case !policy.MayKeep(rule):
		return fmt.Errorf("%s holds for this session only: a file of the project asks about it, "+
			"or the answer opened a directory outside the project", ruleText(rule))
	}
	kept := listed.Rule
	kept.AddedAt = time.Now().UTC().Truncate(time.Second)
	if err := s.keep([]permissions.Rule{kept}); err != nil {
		return err
	}
	policy.Forget(listed.Rule) // one rule, which one revoke takes back
	s.recordKept(listed)
	return nil
}

// policyOf is the policy that a listed rule of the session stands in; nil when its agent's
// is gone.
func (s *Session) policyOf(listed ListedRule) *pipeline.Policy {
	if len(listed.Agents) == 0 {
		return s.policy
	}
	for _, f := range s.footingsNow() {
		if slices.Equal(f.names, listed.Agents) {
			return f.policy
		}
	}
	return nil
}

// recordKept notes in the audit what the user kept, and that it was the user (R129).
func (s *Session) recordKept(listed ListedRule) {
	if s.audit == nil {
		return
	}
	s.audit.Append(audit.Record{
		Event: audit.Kept, Tool: listed.Rule.Permission, Touches: []string{listed.Rule.Pattern}, Workspace: s.project.dir,
		Verdict: "allow", By: "person: allow_project", Reason: "kept for the project by /permissions keep", Mode: string(s.choices.get().mode),
	})
}

// keepCommand is /permissions keep: without a number for the newest rule that was allowed
// in this session, else for one of the list that was shown last.
func (s *Session) keepCommand(words []string) string {
	var rule ListedRule
	var err error
	if len(words) == 0 {
		rule, err = s.newestAnswer()
	} else {
		rule, err = s.numbered(words[0])
	}
	if err == nil {
		err = s.KeepForProject(rule)
	}
	if err != nil {
		return "Nothing was kept: " + kinds.Visible(err.Error()) + "."
	}
	who := "this project"
	if len(rule.Agents) > 0 {
		who = "all agents in this project, not only for " + kinds.Line(transcript.PathText(rule.Agents), lineRunes)
	}
	return fmt.Sprintf("Kept for %s: %s %s. `/permissions` lists it and takes it back.", who, rule.Rule.Action, ruleText(rule.Rule))
}

// newestAnswer is the rule that the user allowed last in this session.
func (s *Session) newestAnswer() (newest ListedRule, err error) {
	for _, l := range s.Rules() {
		if l.Number == 0 || l.Scope != permissions.Session || l.Rule.Action != capability.Allow {
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

// numbered is the rule with a number of the list that was shown last.
func (s *Session) numbered(number string) (ListedRule, error) {
	s.mu.Lock()
	listed := s.listed
	s.mu.Unlock()
	if listed == nil {
		s.refreshProject()
		listed = s.Rules()
	}
	n, err := strconv.Atoi(strings.TrimSuffix(number, "."))
	i := slices.IndexFunc(listed, func(l ListedRule) bool { return err == nil && n > 0 && l.Number == n })
	if i < 0 {
		return ListedRule{}, fmt.Errorf("there is no rule with the number %s; `/permissions` lists them", code(number))
	}
	return listed[i], nil
}
