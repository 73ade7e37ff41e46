package session

import (
	"context"

	"acp-agent/internal/trace"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// Call runs one tool call of the user outside of any turn. It passes every stage that a model's call
// passes, and its events go to the session's sink.
func (s *Session) Call(ctx context.Context, tool, input string) transcript.ToolFinished {
	id := s.host.IDs.New(transcript.CallPrefix)
	defer s.sources.servers.letAsk(ctx).end() // no turn follows in which the user could be asked
	s.sources.awaitTool(ctx, tool, func() bool { return s.agents.tools.Tools().Has(tool) })
	prepared := s.agents.tools.Prepare(pipeline.Call{ID: id, Name: tool, Input: input})
	s.conversation.emit(transcript.ToolReady{CallID: id, Tool: prepared.Tool, Input: input, Args: prepared.Args, Card: prepared.Card})
	return s.agents.tools.Run(trace.WithSpan(ctx, s.life.span), prepared, transcript.SinkFunc(s.conversation.record))
}

// Explain says how a tool call would be judged in this session, and why. Nothing runs and nothing is
// written; see pipeline.Explain. The tool of a server that has not listed its tools yet is judged by
// its name alone.
func (s *Session) Explain(ctx context.Context, tool, input string) pipeline.Explanation {
	call := pipeline.Call{ID: "explain", Name: tool, Input: input}
	if !s.agents.tools.Tools().Has(tool) {
		if standIn, ok := s.sources.servers.unseen(tool); ok {
			return s.agents.tools.ExplainUnseen(ctx, call, standIn)
		}
	}
	return s.agents.tools.Explain(ctx, call)
}

// WithRules adds rules to one scope of the session, so that a caller can try what they change.
func (s *Session) WithRules(scope permissions.Scope, rules ...permissions.Rule) {
	s.rules.policy.Add(scope, rules...)
}

// ToolStatus says whether a tool is available in a session.
type ToolStatus struct {
	// Off says why the tool is not available; "" when it is.
	Off string
	// Deferred says that the model finds the tool only with tool_search (R87).
	Deferred bool
}

// ToolStatus says whether a tool is available in this session.
func (s *Session) ToolStatus(id string) ToolStatus {
	entry, ok := s.agents.tools.Tools().Get(id)
	if !ok {
		return ToolStatus{Off: "unknown"}
	}
	return ToolStatus{Off: s.agents.tools.WhyAbsent(entry), Deferred: s.agents.tools.Deferred(id)}
}

// Tools lists the tools in the order in which requests list them.
func (s *Session) Tools() []*tools.Entry { return s.agents.tools.Tools().All() }
