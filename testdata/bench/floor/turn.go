package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
)

// message is one of the conversation, as the model server wants it.
type message struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	CallID    string `json:"tool_call_id,omitempty"`
	ToolCalls []call `json:"tool_calls,omitempty"`
}

type call struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// turn runs model and tools in turn until the model has nothing left to do.
func (s *session) turn(ctx context.Context, prompt string) string {
	s.messages = append(s.messages, message{Role: "user", Content: prompt})
	for {
		answer, err := s.ask(ctx)
		if ctx.Err() != nil {
			return "cancelled"
		}
		if err != nil {
			return "refusal" // an agent would tell the person what went wrong
		}
		s.messages = append(s.messages, answer)
		if len(answer.ToolCalls) == 0 {
			return "end_turn"
		}
		for _, c := range answer.ToolCalls {
			s.messages = append(s.messages, message{Role: "tool", CallID: c.ID, Content: s.call(ctx, c)})
		}
	}
}

// ask streams one answer of the model to the client.
func (s *session) ask(ctx context.Context) (answer message, err error) {
	body, err := json.Marshal(map[string]any{"model": "m", "stream": true, "messages": s.messages, "tools": tools})
	if err != nil {
		return answer, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("OPENAI_BASE_URL")+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return answer, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer, err
	}
	defer res.Body.Close()
	answer.Role = "assistant"
	text := []byte{}
	lines := bufio.NewReaderSize(res.Body, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: "))
		if ok && string(data) != "[DONE]" {
			text = s.take(data, &answer, text)
		}
		if err != nil || ok && string(data) == "[DONE]" {
			answer.Content = string(text)
			return answer, ctx.Err()
		}
	}
}

// take adds one event of the stream to the answer.
func (s *session) take(data []byte, answer *message, text []byte) []byte {
	var event struct {
		Choices []struct {
			Delta struct {
				Content   string `json:"content"`
				ToolCalls []call `json:"tool_calls"`
			} `json:"delta"`
		} `json:"choices"`
	}
	if json.Unmarshal(data, &event) != nil || len(event.Choices) == 0 {
		return text
	}
	delta := event.Choices[0].Delta
	if delta.Content != "" {
		s.update(chunk{"agent_message_chunk", block{"text", delta.Content}})
	}
	for _, c := range delta.ToolCalls {
		for len(answer.ToolCalls) <= c.Index {
			answer.ToolCalls = append(answer.ToolCalls, call{Index: len(answer.ToolCalls), Type: "function"})
		}
		known := &answer.ToolCalls[c.Index]
		known.ID += c.ID
		known.Function.Name += c.Function.Name
		known.Function.Arguments += c.Function.Arguments
	}
	return append(text, delta.Content...)
}
