// Llama writes a language model with random weights, for a real llama.cpp server.
//
//	go run ./testdata/llama -o model.gguf README.md docs/*.md
//
// Its words are learnt from the files that are named.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"acp-agent/internal/testkit/gguf"
)

func main() {
	out := flag.String("o", "model.gguf", "the file to write")
	window := flag.Int("window", 32768, "how many tokens the model says it was made for")
	seed := flag.Uint64("seed", 1, "chooses the weights")
	merges := flag.Int("merges", 1000, "how many pieces of words are learnt")
	flag.Parse()
	if err := write(*out, *window, *merges, *seed, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "llama:", err)
		os.Exit(1)
	}
}

func write(out string, window, merges int, seed uint64, texts []string) (err error) {
	var all strings.Builder
	for _, name := range texts {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		all.Write(text)
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	m := gguf.Model{Vocabulary: gguf.Learn(all.String(), merges), Window: window, Seed: seed, Leanings: map[string]float32{gguf.End: 4, `"`: 4, "<tool_call>": 4, "}": 4}}
	return m.File().Write(f)
}
