package gguf_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/gguf"
)

const text = "the reader reads the text that the writer writes, and the text that the reader wrote"

// TestWrite_Bytes holds each byte of a small file to the published format.
func TestWrite_Bytes(t *testing.T) {
	file := gguf.File{
		Meta: []gguf.Meta{
			{Key: "a.b", Value: "text"},
			{Key: "n", Value: uint32(7)},
			{Key: "l", Value: []string{"x"}},
			{Key: "t", Value: []int32{-1}},
			{Key: "f", Value: float32(1)},
			{Key: "o", Value: true},
		},
		Tensors: []gguf.Tensor{{Name: "w", Shape: []int{2, 1}, Values: []float32{1, -2}}},
	}
	var out bytes.Buffer
	if err := file.Write(&out); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"47475546 03000000 0100000000000000 0600000000000000", // GGUF, version, tensors, keys
		"0300000000000000 612e62 08000000 0400000000000000 74657874",
		"0100000000000000 6e 04000000 07000000",
		"0100000000000000 6c 09000000 08000000 0100000000000000 0100000000000000 78",
		"0100000000000000 74 09000000 05000000 0100000000000000 ffffffff",
		"0100000000000000 66 06000000 0000803f",
		"0100000000000000 6f 07000000 01",
		"0100000000000000 77 02000000 0200000000000000 0100000000000000 00000000 0000000000000000", // shape, type, offset
		strings.Repeat("00", 21),                                                                   // up to a multiple of 32
		"0000803f 000000c0",
		strings.Repeat("00", 24),
	}, "")
	if diff := cmp.Diff(strings.ReplaceAll(want, " ", ""), hex.EncodeToString(out.Bytes())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWrite_Refuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		file gguf.File
		want string
	}{
		{"a type that it does not know", gguf.File{Meta: []gguf.Meta{{Key: "k", Value: 1}}}, "type int"},
		{"a shape that does not fit", gguf.File{Tensors: []gguf.Tensor{{Name: "w", Shape: []int{2}, Values: []float32{1}}}}, `"w"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.file.Write(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestLearn(t *testing.T) {
	v := gguf.Learn("aaab aaab b\n", 10)
	if got, want := len(v.Pieces), 256+len(v.Merges); got != want {
		t.Errorf("%d pieces, want %d", got, want)
	}
	// The most frequent pair first, of equals the first of the alphabet; a blank belongs to
	// the word after it; what stands there once is not joined.
	if diff := cmp.Diff([]string{"a a", "a b", "aa ab"}, v.Merges); diff != "" {
		t.Errorf("merges (-want +got):\n%s", diff)
	}
	if v.Pieces[' '] != "Ġ" || v.Pieces['\n'] != "Ċ" || v.Pieces['a'] != "a" || v.Pieces[0xAD] != "Ń" {
		t.Errorf("bytes are written as %q", v.Pieces[:256])
	}
	seen := map[string]bool{}
	for _, piece := range v.Pieces {
		if seen[piece] {
			t.Errorf("%q stands for two pieces", piece)
		}
		seen[piece] = true
	}
}

// TestModel_File reads a model back: each tensor lies where the file says, with the shape
// that the sizes in the file demand, and the same seed gives the same file.
func TestModel_File(t *testing.T) {
	model := gguf.Model{Vocabulary: gguf.Learn(text, 20), Window: 4096, Seed: 1, Leanings: map[string]float32{gguf.End: 5.7}}
	file := written(t, model)
	if !bytes.Equal(file, written(t, model)) {
		t.Error("the same seed gives another file")
	}
	other := model
	other.Seed = 2
	if bytes.Equal(file, written(t, other)) {
		t.Error("another seed gives the same file")
	}
	meta, tensors := parse(t, file)
	if meta["llama.context_length"] != uint32(4096) || meta["general.architecture"] != "llama" || !strings.Contains(fmt.Sprint(meta["tokenizer.chat_template"]), "<tool_call>") {
		t.Errorf("the file says %v", meta)
	}
	tokens := meta["tokenizer.ggml.tokens"].([]any)
	vocabulary := uint64(len(tokens))
	if kinds := meta["tokenizer.ggml.token_type"].([]any); uint64(len(kinds)) != vocabulary || meta["llama.vocab_size"] != uint32(vocabulary) {
		t.Errorf("%d tokens, %d types, size %v", vocabulary, len(kinds), meta["llama.vocab_size"])
	}
	end := meta["tokenizer.ggml.eos_token_id"].(uint32)
	if tokens[end] != gguf.End {
		t.Errorf("answers end with %q", tokens[end])
	}
	want := map[string][]uint64{
		"token_embd.weight": {64, vocabulary}, "output.weight": {64, vocabulary}, "output_norm.weight": {64},
	}
	for _, layer := range []string{"blk.0.", "blk.1."} {
		for name, shape := range map[string][]uint64{
			"attn_norm": {64}, "attn_q": {64, 64}, "attn_k": {64, 32}, "attn_v": {64, 32}, "attn_output": {64, 64},
			"ffn_norm": {64}, "ffn_gate": {64, 128}, "ffn_up": {64, 128}, "ffn_down": {128, 64},
		} {
			want[layer+name+".weight"] = shape
		}
	}
	got := map[string][]uint64{}
	for name, tensor := range tensors {
		got[name] = tensor.shape
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tensors (-want +got):\n%s", diff)
	}
	leanings(t, tensors["output.weight"].values, int(end))
}

// leanings are the first numbers of each token's row in the output.
func leanings(t *testing.T, output []float32, end int) {
	t.Helper()
	for token, want := range map[int]float32{end: 1, end - 1: 0, 'a': 0, 0xC3: -100 / 5.7} {
		if got := output[64*token]; got != want {
			t.Errorf("token %d leans by %v, want %v", token, got, want)
		}
	}
}

func written(t *testing.T, m gguf.Model) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := m.File().Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type tensor struct {
	shape  []uint64
	values []float32
}

// parse reads a file as the format says, and fails on what the format does not have.
func parse(t *testing.T, file []byte) (map[string]any, map[string]tensor) {
	t.Helper()
	r := &reader{t: t, rest: file}
	if magic := string(r.take(4)); magic != "GGUF" {
		t.Fatalf("the file begins with %q", magic)
	}
	if version := r.uint32(); version != 3 {
		t.Fatalf("version %d", version)
	}
	count, keys := r.uint64(), r.uint64()
	meta := map[string]any{}
	for range keys {
		key := r.text()
		meta[key] = r.value(r.uint32())
	}
	type info struct {
		name   string
		shape  []uint64
		offset uint64
	}
	var infos []info
	for range count {
		one := info{name: r.text()}
		for range r.uint32() {
			one.shape = append(one.shape, r.uint64())
		}
		if kind := r.uint32(); kind != 0 {
			t.Fatalf("%s is of type %d", one.name, kind)
		}
		one.offset = r.uint64()
		infos = append(infos, one)
	}
	begin := uint64(len(file)-len(r.rest)+31) / 32 * 32
	tensors := map[string]tensor{}
	for _, one := range infos {
		size := uint64(1)
		for _, n := range one.shape {
			size *= n
		}
		if one.offset%32 != 0 || begin+one.offset+4*size > uint64(len(file)) {
			t.Fatalf("%s lies at %d", one.name, one.offset)
		}
		values := make([]float32, size)
		for i := range values {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(file[begin+one.offset+4*uint64(i):]))
		}
		tensors[one.name] = tensor{one.shape, values}
	}
	return meta, tensors
}

type reader struct {
	t    *testing.T
	rest []byte
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.t.Fatalf("the file ends %d bytes early", n-uint64(len(r.rest)))
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) uint32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) uint64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }
func (r *reader) text() string   { return string(r.take(r.uint64())) }

func (r *reader) value(kind uint32) any {
	switch kind {
	case 4:
		return r.uint32()
	case 5:
		return int32(r.uint32())
	case 6:
		return math.Float32frombits(r.uint32())
	case 7:
		return r.take(1)[0] == 1
	case 8:
		return r.text()
	case 9:
		of, n := r.uint32(), r.uint64()
		var list []any
		for range n {
			list = append(list, r.value(of))
		}
		return list
	}
	r.t.Fatalf("a value of type %d", kind)
	return nil
}
