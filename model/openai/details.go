package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"acp-agent/model/wire"
)

// maxDetails bounds the reasoning blocks of one answer, in bytes.
const maxDetails = 8 << 20

var errLongDetails = errors.New("its reasoning is larger than 8 MiB")

// details puts the pieces of reasoning_details together: OpenRouter streams each block in
// pieces of one type and index, and refuses a history in which they were left in pieces
// (langchain issue 36400). Blocks stay in the order in which they came, whole and unchanged,
// as the documentation asks (openrouter.ai/docs, reasoning tokens, preserving reasoning).
type details struct {
	blocks   []*detailBlock
	received int
}

// detailBlock is one block: its members in the order in which they came.
type detailBlock struct {
	names  []string
	values map[string]json.RawMessage
	grown  map[string]*strings.Builder // text and summary, which come in pieces
}

// add takes the blocks of one event, and returns the text in them that is shown.
func (ds *details) add(raw json.RawMessage) (shown string, err error) {
	if ds.received += len(raw); ds.received > maxDetails {
		return "", errLongDetails
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return "", nil
	}
	earlier := len(ds.blocks)
	for _, item := range list {
		piece := readBlock(item)
		if piece == nil {
			continue
		}
		shown += piece.text()
		if block := ds.find(piece, earlier); block != nil {
			block.grow(piece)
			continue
		}
		ds.blocks = append(ds.blocks, piece)
	}
	return shown, nil
}

// find returns the block that a piece continues. What is encrypted comes whole. Blocks
// without an index are told apart by the event alone: earlier is how many it found.
func (ds *details) find(piece *detailBlock, earlier int) *detailBlock {
	if piece.string("type") == "reasoning.encrypted" {
		return nil
	}
	for i := len(ds.blocks) - 1; i >= 0; i-- {
		block := ds.blocks[i]
		same := block.string("type") == piece.string("type") && bytes.Equal(block.values["index"], piece.values["index"])
		if piece.values["index"] == nil { // such as a signature alone
			same = i < earlier && i == len(ds.blocks)-1 && block.string("type") == piece.string("type")
		}
		if id, other := block.string("id"), piece.string("id"); id != "" && other != "" && id != other {
			same = false
		}
		if same {
			return block
		}
	}
	return nil
}

// unsigned reports a text of Claude whose signature did not come, because the answer was
// cut: it would be refused, and with it the conversation (OpenRouterTeam/ai-sdk-provider
// issue 423).
func (d *detailBlock) unsigned() bool {
	return d.string("type") == "reasoning.text" && strings.HasPrefix(d.string("format"), "anthropic-") && d.string("signature") == ""
}

// json are the blocks as they are sent back; nil when there are none.
func (ds *details) json() json.RawMessage {
	blocks := slices.DeleteFunc(slices.Clone(ds.blocks), (*detailBlock).unsigned)
	if len(blocks) == 0 {
		return nil
	}
	b := []byte{'['}
	for i, block := range blocks {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		for j, name := range block.names {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(wire.AppendString(b, name), ':')
			if text := block.grown[name]; text != nil {
				b = wire.AppendString(b, text.String())
			} else {
				b = append(b, block.values[name]...)
			}
		}
		b = append(b, '}')
	}
	return append(b, ']')
}

// readBlock reads a block; nil when raw is not an object.
func readBlock(raw json.RawMessage) *detailBlock {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return nil
	}
	block := &detailBlock{values: map[string]json.RawMessage{}, grown: map[string]*strings.Builder{}}
	for dec.More() {
		token, err := dec.Token()
		name, ok := token.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return nil
		}
		block.set(name, value)
	}
	return block
}

// set gives the block a member, or more of it.
func (d *detailBlock) set(name string, value json.RawMessage) {
	if _, known := d.values[name]; !known {
		d.names = append(d.names, name)
	} else if string(value) == "null" {
		return
	}
	d.values[name] = value
	if (name == "text" || name == "summary") && value[0] == '"' {
		if d.grown[name] == nil {
			d.grown[name] = &strings.Builder{}
		}
		d.grown[name].WriteString(unquote(value))
	}
}

func (d *detailBlock) grow(piece *detailBlock) {
	for _, name := range piece.names {
		d.set(name, piece.values[name])
	}
}

// string is the text of a member, "" when it has none.
func (d *detailBlock) string(name string) string { return wire.Loose(d.values[name]) }

// text is the text of a piece that is shown.
func (d *detailBlock) text() string {
	for _, name := range []string{"text", "summary"} {
		if text := d.grown[name]; text != nil {
			return text.String()
		}
	}
	return ""
}
