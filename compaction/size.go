package compaction

import (
	"acp-agent/model"
	"acp-agent/transcript"
)

// Estimates of the size of a request, in tokens. They are on the high side: program text has 3 to 4
// bytes a token, prose 4 and more.
const (
	bytesPerToken = 3
	// perMessage and perCall are the overhead of a message, and of a call with its result: names,
	// ids and punctuation.
	perMessage = 8
	perCall    = 48
	// perImage is the size of a large image.
	perImage = 1_600
)

// tokens estimates a text.
func tokens(text string) int { return tokensOf(len(text)) }

// tokensOf estimates a text of size bytes.
func tokensOf(size int) int { return (size + bytesPerToken - 1) / bytesPerToken }

// Fixed estimates what every request of a conversation begins with.
func Fixed(system string, tools []model.Tool) int {
	size := len(system)
	for _, tool := range tools {
		size += len(tool.Name) + len(tool.Description) + len(tool.Parameters)
	}
	return tokensOf(size) + perMessage*len(tools)
}

// ofAll estimates messages.
func ofAll(messages []*transcript.Message) int {
	sum := 0
	for _, m := range messages {
		sum += ofMessage(m)
	}
	return sum
}

// ofMessage estimates a message with the results of its calls.
func ofMessage(m *transcript.Message) int {
	size, sum := 0, perMessage
	for _, part := range m.Parts {
		switch part := part.(type) {
		case *transcript.TextPart:
			if !part.Replaced {
				size += len(part.Text)
			}
		case *transcript.ResourcePart:
			size += len(part.URI) + len(part.Text)
		case *transcript.LinkPart:
			size += len(part.URI) + len(part.Name) + len(part.Title) + len(part.Description)
		case *transcript.ImagePart:
			sum += perImage
		case *transcript.ReasoningPart:
			if m.Origin != "" { // the request sends it back
				size += max(len(part.Text), len(part.Replay))
			}
		case *transcript.ToolPart:
			size += len(part.Input)
			sum += ofResult(part)
		}
	}
	return sum + tokensOf(size)
}

// ofResult estimates the result of a call.
func ofResult(call *transcript.ToolPart) int {
	return perCall + tokens(call.Text) + perImage*len(call.Images)
}
