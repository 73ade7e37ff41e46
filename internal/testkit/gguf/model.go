package gguf

import (
	_ "embed" // the chat template
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Model is a small model with random weights. It talks in turns, calls tools and thinks
// in the form of Qwen's models.
type Model struct {
	Vocabulary Vocabulary
	// Window is the number of tokens that the model says it was made for.
	Window int
	// Seed chooses the weights: the same seed gives the same file.
	Seed uint64
	// Leanings make tokens likelier, or with a negative number rarer, by their text: with
	// 5 a token comes about once in ten, among a thousand.
	Leanings map[string]float32
	// Thinks opens a thought at the start of each answer.
	Thinks bool
}

// The sizes of the model, the smallest that the server's code is fast with.
const (
	width   = 64 // numbers for each token
	layers  = 2
	heads   = 4
	shared  = 2 // heads of keys and values
	forward = 128
)

// End is the token that ends an answer, for [Model.Leanings].
const End = "<|im_end|>"

// marks are the tokens after those of the vocabulary, which the template writes, with
// their types by the numbers of the format: 3 is never shown, 4 is text like any other.
var marks = []struct {
	text string
	kind int32
}{
	{"<|im_start|>", 3},
	{End, 3},
	{"<think>", 4},
	{"</think>", 4},
	{"<tool_call>", 4},
	{"</tool_call>", 4},
}

//go:embed chat.jinja
var template string

// File is the model as a file.
func (m Model) File() *File {
	tokens, kinds := m.tokens()
	end := uint32(len(m.Vocabulary.Pieces) + 1)
	return &File{
		Meta: []Meta{
			{"general.architecture", "llama"},
			{"general.name", "random weights"},
			{"general.file_type", uint32(0)}, // 32-bit floats
			{"llama.vocab_size", uint32(len(tokens))},
			{"llama.context_length", uint32(m.Window)},
			{"llama.embedding_length", uint32(width)},
			{"llama.block_count", uint32(layers)},
			{"llama.feed_forward_length", uint32(forward)},
			{"llama.attention.head_count", uint32(heads)},
			{"llama.attention.head_count_kv", uint32(shared)},
			{"llama.attention.layer_norm_rms_epsilon", float32(1e-5)},
			{"llama.rope.dimension_count", uint32(width / heads)},
			{"llama.rope.freq_base", float32(10000)},
			{"tokenizer.ggml.model", "gpt2"},
			{"tokenizer.ggml.pre", "gpt-2"},
			{"tokenizer.ggml.tokens", tokens},
			{"tokenizer.ggml.token_type", kinds},
			{"tokenizer.ggml.merges", m.Vocabulary.Merges},
			{"tokenizer.ggml.bos_token_id", end},
			{"tokenizer.ggml.eos_token_id", end},
			{"tokenizer.ggml.add_bos_token", false},
			{"tokenizer.chat_template", strings.ReplaceAll(template, "THINKS", strconv.FormatBool(m.Thinks))},
		},
		Tensors: m.tensors(tokens),
	}
}

func (m Model) tokens() (texts []string, kinds []int32) {
	for _, piece := range m.Vocabulary.Pieces {
		texts, kinds = append(texts, piece), append(kinds, 1)
	}
	for _, mark := range marks {
		texts, kinds = append(texts, mark.text), append(kinds, mark.kind)
	}
	return texts, kinds
}

// tensors are the weights. The first number of each token is the same and no layer changes
// it, so that its column of the output is what each token is likely without any context.
func (m Model) tensors(tokens []string) []Tensor {
	const constant = 8
	letters := letters()
	r := random{rand.New(rand.NewPCG(m.Seed, 0))}
	embedding := r.matrix("token_embd.weight", width, len(tokens), 1)
	output := r.matrix("output.weight", width, len(tokens), 0.2)
	for i, token := range tokens {
		embedding.Values[i*width] = constant
		// The norm before the output makes about 5.7 of the constant.
		output.Values[i*width] = m.leaning(token, letters) / 5.7
	}
	all := []Tensor{embedding, output, ones("output_norm.weight")}
	for layer := range layers {
		all = append(all, r.layer(fmt.Sprintf("blk.%d.", layer))...)
	}
	return all
}

// leaning keeps the model from writing a part of a letter: the server answers with an
// error when its text is not UTF-8.
func (m Model) leaning(token string, letters [256]string) float32 {
	if i := slices.Index(m.Vocabulary.Pieces, token); i >= 0 && broken(token, letters) {
		return -100
	}
	return m.Leanings[token]
}

// random makes weights.
type random struct{ *rand.Rand }

func (r random) layer(prefix string) []Tensor {
	const deviation = 0.1
	attended := r.matrix(prefix+"attn_output.weight", width, width, deviation)
	forwarded := r.matrix(prefix+"ffn_down.weight", forward, width, deviation)
	clear(attended.Values[:width]) // the row of the constant
	clear(forwarded.Values[:forward])
	return []Tensor{
		ones(prefix + "attn_norm.weight"),
		r.matrix(prefix+"attn_q.weight", width, width, deviation),
		r.matrix(prefix+"attn_k.weight", width, width/heads*shared, deviation),
		r.matrix(prefix+"attn_v.weight", width, width/heads*shared, deviation),
		attended,
		ones(prefix + "ffn_norm.weight"),
		r.matrix(prefix+"ffn_gate.weight", width, forward, deviation),
		r.matrix(prefix+"ffn_up.weight", width, forward, deviation),
		forwarded,
	}
}

func (r random) matrix(name string, row, rows int, deviation float64) Tensor {
	t := Tensor{Name: name, Shape: []int{row, rows}, Values: make([]float32, row*rows)}
	for i := range t.Values {
		t.Values[i] = float32(r.NormFloat64() * deviation)
	}
	return t
}

func ones(name string) Tensor {
	t := Tensor{Name: name, Shape: []int{width}, Values: make([]float32, width)}
	for i := range t.Values {
		t.Values[i] = 1
	}
	return t
}
