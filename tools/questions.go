package tools

import (
	"context"
	"errors"
)

// Question is one question to the user (R74).
type Question struct {
	Question    string           `json:"question"`
	Header      string           `json:"header,omitempty"`
	Options     []QuestionOption `json:"options,omitempty"`
	MultiSelect bool             `json:"multi_select,omitempty"`
}

// QuestionOption is an answer to choose.
type QuestionOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// ErrInChat says that questions were written into the chat: the user's next message answers
// them.
var ErrInChat = errors.New("the questions were written into the chat")

// InChat is the error of a Questioner that can only ask in the chat. The session writes Text
// there, so that it is a part of the conversation, and the tool has ErrInChat.
type InChat struct{ Text string }

// Error says that the questions are for the chat.
func (*InChat) Error() string { return "the questions are to be written into the chat" }

// Questioner puts questions to the user.
type Questioner interface {
	// Answers waits for the answers, one list for each question. A user who
	// declines, or cannot be asked, is an *Error; no answer is ever invented. ErrInChat
	// says that the questions were written into the chat instead (R77); from a client, *InChat
	// has them written there.
	Answers(ctx context.Context, callID string, questions []Question) ([][]string, error)
}
