package session

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"acp-agent/loop"
	"acp-agent/transcript"
)

// reply says something in the agent's name. Neither the command nor the answer
// is part of what the model sees.
func (s *Session) reply(ctx context.Context, prompt *transcript.Message, answer func(context.Context) string) {
	turn := s.host.IDs.New(transcript.TurnPrefix)
	s.emit(transcript.TurnStarted{TurnID: turn, MessageID: prompt.ID, At: time.Now()})
	s.say(answer(ctx))
	s.emit(transcript.TurnFinished{TurnID: turn, Reason: "finish"})
}

// replyDuring is reply while another turn runs. It is one event without a turn of its
// own, whose end would be taken for the end of the other.
func (s *Session) replyDuring(ctx context.Context, c typedCommand) (stop loop.StopReason, err error) {
	defer func() {
		if v := recover(); v != nil { // it ends this prompt, not the process
			s.host.Logger.Error("command panicked", "session", s.ID, "stack", string(debug.Stack()))
			stop, err = "", fmt.Errorf("the command failed inside the agent: %v", v)
		}
	}()
	s.remark(c.answer(ctx, s, c.rest))
	return loop.EndTurn, nil
}
