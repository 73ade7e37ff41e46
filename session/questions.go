package session

import (
	"context"
	"errors"
	"slices"

	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// questionsOf returns the questioner of the main agent; nil when there is no user to answer them (R76).
func questionsOf(spec Spec, c *conversation) tools.Questioner {
	if spec.Questions == nil {
		return nil
	}
	return chatQuestions{spec.Questions, c}
}

// chatQuestions writes questions into the conversation that the client can only ask in the chat, so
// that a loaded session shows them (R77, R148).
type chatQuestions struct {
	tools.Questioner
	conversation *conversation
}

// Answers implements tools.Questioner.
func (q chatQuestions) Answers(ctx context.Context, callID string, questions []tools.Question) ([][]string, error) {
	answers, err := q.Questioner.Answers(ctx, callID, questions)
	if chat, ok := errors.AsType[*tools.InChat](err); ok {
		q.conversation.say(chat.Text)
		return nil, tools.ErrInChat
	}
	return answers, err
}

// namedQuestions are the questions of a subagent. They name it (R73), and its time limit stands still
// while the user thinks.
type namedQuestions struct {
	tools.Questioner
	node *subagent.Node
}

// Answers implements tools.Questioner.
func (q namedQuestions) Answers(ctx context.Context, callID string, questions []tools.Question) ([][]string, error) {
	defer q.node.WaitForUser(ctx)()
	named := slices.Clone(questions)
	for i := range named {
		named[i].Question = transcript.PathText(q.node.Names()) + " asks: " + named[i].Question
	}
	return q.Questioner.Answers(ctx, callID, named)
}
