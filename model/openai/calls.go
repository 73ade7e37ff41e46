package openai

import (
	"encoding/json"
	"strings"

	"acp-agent/model"
	"acp-agent/model/wire"
)

// calls puts the pieces of a step's tool calls together. Servers number calls
// with gaps, not at all, or all alike; they leave ids out or use one twice. What
// comes out is numbered from 0 and has ids of its own where needed.
type calls struct {
	list      []*call
	byIndex   map[int]*call
	ids       wire.CallIDs
	announced int
	received  int // bytes of arguments
}

type call struct {
	serverID  string
	index     int    // in the order of announcement
	id, name  string // as announced; the id is empty before
	arguments strings.Builder
	replay    json.RawMessage
}

// add takes one piece and emits what is known of its call: nothing before the
// name is.
func (cs *calls) add(piece *toolCall, emit func(model.Chunk) error) error {
	name, args := string(piece.Function.Name), string(piece.Function.Arguments)
	c := cs.find(piece)
	if c == nil || c.endsBefore(piece) {
		if len(cs.list) == wire.MaxCalls {
			return wire.ErrTooManyCalls
		}
		c = cs.start(piece)
	} else if name != "" && args != "" && c.arguments.String() == args && json.Valid([]byte(args)) {
		return nil // the whole call sent again
	}
	if c.serverID == "" {
		c.serverID = string(piece.ID)
	}
	if cs.received += len(args) + len(piece.Extra); cs.received > wire.MaxArguments {
		return wire.ErrLongArguments
	}
	c.arguments.WriteString(args)
	var more json.RawMessage
	if extra := signed(piece.Extra); extra != nil {
		more = replay{Extra: extra}.json()
		c.replay = more
	}
	if c.id != "" {
		if args == "" && more == nil {
			return nil
		}
		return emit(model.Chunk{Kind: model.ToolCall, Index: c.index, ID: c.id, Arguments: args, Replay: more})
	}
	if name == "" {
		return nil
	}
	c.name = name
	return cs.announce(c, emit)
}

// flush emits the calls that never got a name; the pipeline reports them.
func (cs *calls) flush(emit func(model.Chunk) error) error {
	for _, c := range cs.list {
		if c.id == "" {
			if err := cs.announce(c, emit); err != nil {
				return err
			}
		}
	}
	return nil
}

func (cs *calls) announce(c *call, emit func(model.Chunk) error) error {
	c.id, c.index = cs.ids.Unique(c.serverID), cs.announced
	cs.announced++
	return emit(model.Chunk{Kind: model.ToolCall, Index: c.index, ID: c.id, Name: c.name, Arguments: c.arguments.String(), Replay: c.replay})
}

// find returns the call that a piece seems to go on with, or nil.
func (cs *calls) find(piece *toolCall) *call {
	if piece.Index != nil {
		return cs.byIndex[*piece.Index]
	}
	if len(cs.list) == 0 {
		return nil
	}
	if piece.ID == "" {
		return cs.list[len(cs.list)-1]
	}
	for _, c := range cs.list {
		if c.serverID == string(piece.ID) {
			return c
		}
	}
	return nil
}

// endsBefore reports whether the piece opens a call of its own instead of going
// on with c. A piece without a name never does.
func (c *call) endsBefore(piece *toolCall) bool {
	name := string(piece.Function.Name)
	switch {
	case name == "":
		return false
	case piece.ID != "" && c.serverID != "":
		return string(piece.ID) != c.serverID
	case c.name == "":
		return false
	case name != c.name:
		return true
	}
	// The same name again: a server that repeats it, or the next call.
	return piece.Function.Arguments != "" && json.Valid([]byte(c.arguments.String()))
}

func (cs *calls) start(piece *toolCall) *call {
	c := &call{serverID: string(piece.ID)}
	cs.list = append(cs.list, c)
	if piece.Index != nil {
		if cs.byIndex == nil {
			cs.byIndex = map[int]*call{}
		}
		cs.byIndex[*piece.Index] = c
	}
	return c
}
