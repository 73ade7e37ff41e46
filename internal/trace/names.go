package trace

import (
	"context"
	"log/slog"
)

// The names of spans (R132).
const (
	SessionRun         = "session.run"
	SessionTurn        = "session.turn"
	ToolCall           = "tool.call"
	CompactionRun      = "compaction.run"
	PermissionEvaluate = "permission.evaluate"
	// ModelCall is one request to a model.
	ModelCall = "model.call"
)

// The names of attributes, as the conventions of OpenTelemetry have them.
const (
	OperationName  = "gen_ai.operation.name"
	AgentName      = "gen_ai.agent.name"
	ConversationID = "gen_ai.conversation.id"
	ToolName       = "gen_ai.tool.name"
	ToolCallID     = "gen_ai.tool.call.id"
	ToolType       = "gen_ai.tool.type"
	RequestModel   = "gen_ai.request.model"
	InputTokens    = "gen_ai.usage.input_tokens"
	OutputTokens   = "gen_ai.usage.output_tokens"
	FinishReasons  = "gen_ai.response.finish_reasons"
	ErrorType      = "error.type"
	turnID         = "acp_agent.turn.id"
	verdictName    = "acp_agent.permission.verdict"
)

// The values of OperationName.
const (
	invokeAgent = "invoke_agent"
	chat        = "chat"
	executeTool = "execute_tool"
)

// Session begins the span of a session's life. Spans beneath it carry the
// session's id as [ConversationID].
func (t *Tracer) Session(ctx context.Context, id string) (context.Context, *Span) {
	ctx, span := t.Start(ctx, SessionRun)
	if span != nil {
		span.conversation = id
	}
	return ctx, span
}

// Turn begins the span of one turn of the named agent.
func (t *Tracer) Turn(ctx context.Context, id, agent string) (context.Context, *Span) {
	return t.Start(ctx, SessionTurn,
		slog.String(OperationName, invokeAgent), slog.String(AgentName, agent), slog.String(turnID, id))
}

// Chat begins the span of one request to a model.
func (t *Tracer) Chat(ctx context.Context, model string) (context.Context, *Span) {
	return t.Start(ctx, ModelCall, slog.String(OperationName, chat), slog.String(RequestModel, model))
}

// Tool begins the span of one tool call; name is the canonical id.
func (t *Tracer) Tool(ctx context.Context, name, callID string) (context.Context, *Span) {
	return t.Start(ctx, ToolCall,
		slog.String(OperationName, executeTool), slog.String(ToolType, "function"),
		slog.String(ToolName, name), slog.String(ToolCallID, callID))
}

// Permission begins the span of deciding whether a call of the tool may run,
// the wait for a user's answer included.
func (t *Tracer) Permission(ctx context.Context, tool string) (context.Context, *Span) {
	return t.Start(ctx, PermissionEvaluate, slog.String(ToolName, tool))
}

// Compaction begins the span of shortening a conversation.
func (t *Tracer) Compaction(ctx context.Context) (context.Context, *Span) {
	return t.Start(ctx, CompactionRun)
}

// Verdict records what a permission evaluation decided.
func (s *Span) Verdict(verdict string) {
	s.Set(slog.String(verdictName, verdict))
}

// Tokens records what a request to a model cost. As the conventions want it,
// input counts cached tokens too and output those of reasoning.
func (s *Span) Tokens(input, output int) {
	s.Set(slog.Int(InputTokens, input), slog.Int(OutputTokens, output))
}

// Finish records why a model ended its answer.
func (s *Span) Finish(reason string) {
	if s == nil {
		return
	}
	s.Set(slog.Any(FinishReasons, []string{reason}))
}

// Fail records the class of an error, of a closed set such as "denied"; see
// [Span.End].
func (s *Span) Fail(class string) {
	s.Set(slog.String(ErrorType, class))
}
