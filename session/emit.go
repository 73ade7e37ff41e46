package session

import (
	"time"

	"acp-agent/internal/observe"
	"acp-agent/transcript"
)

// emit passes an event on, to the editor and the bus, and keeps what /status
// shows.
func (s *Session) emit(event transcript.Event) {
	s.noteChanges(event)
	switch e := event.(type) {
	case transcript.TurnStarted:
		s.publish(observe.TurnStarted, e.At, map[string]any{observe.FieldMessageID: e.MessageID})
	case transcript.TurnFinished:
		s.publish(observe.TurnFinished, time.Now(), observe.FinishedFields(e.Reason, e.PendingApproval))
	case transcript.StepStarted, transcript.StepFinished:
		s.mu.Lock()
		s.usage.note(e, s.settings.Subagents.Price)
		s.mu.Unlock()
	case transcript.ToolFinished:
		if e.EndsTurn {
			s.mu.Lock()
			s.askedAt = time.Now()
			s.mu.Unlock()
		}
	case transcript.UsageChanged:
		e.Cost = s.cost()
		s.mu.Lock()
		s.context = e
		s.mu.Unlock()
		if id := s.choices.get().model; e.Size == 0 && s.choices.learn(id).complete() {
			s.notices.once("window "+id, transcript.Notice{
				Severity: transcript.Info, Title: "Context window unknown",
				Text: "The context window of this model is not known, so its use is not shown. Set model.window in the configuration.",
			})
		}
		event = e
		defer s.warnFull(e.Used, e.Size)
	}
	s.spec.Sink.Emit(event)
}

// publish tells the subscribers of the bus what happened to the session (R131).
func (s *Session) publish(name string, at time.Time, fields map[string]any) {
	s.host.Bus.Publish(observe.Event{Name: name, At: at, SessionID: s.ID, Fields: fields})
}
