package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const (
	source    = "@earendil-works/pi-ai@1.5.2"
	integrity = "2tWPSnV3qzfiDIY3aWluBag3vC++Vs+VsXt/UquSU5onPMohPih72FUhIhaqmDdMYubOgB3Byl9uF4Vk40JLvQ=="
	dataDir   = "package/dist/providers/data/"
)

// providers are the providers that are taken up: the name of the package's file, and ours.
var providers = []struct {
	file, name string
	maker      bool // its ids mean the same model at any server
}{
	{"openai", "openai", true},
	{"anthropic", "anthropic", true},
	{"google", "gemini", true},
	{"deepseek", "deepseek", true},
	{"moonshotai", "kimi", true},
	{"zai", "glm", true},
	{"qwen-token-plan", "qwen", true},
	{"mistral", "mistral", true},
	{"xai", "xai", true},
	{"minimax", "minimax", true},
	{"xiaomi", "xiaomi", true},
	{"meta", "meta", true},
	{"groq", "groq", false},
	{"together", "together", false},
	{"azure", "azure", false},
	{"cerebras", "cerebras", false},
	{"fireworks", "fireworks", false},
	{"openrouter", "openrouter", false},
}

func main() {
	file := flag.String("package", "", "the npm package, as npm pack writes it")
	out := flag.String("out", "models.tsv.gz", "where to write")
	flag.Parse()
	if err := run(*file, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(file, out string) error {
	data, err := fetch(file)
	if err != nil {
		return err
	}
	files, err := unpack(data)
	if err != nil {
		return err
	}
	text, err := write(files)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	return os.WriteFile(out, packed.Bytes(), 0o644)
}

// fetch reads the package and checks that it is the pinned one.
func fetch(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	sum := sha512.Sum512(data)
	if got := base64.StdEncoding.EncodeToString(sum[:]); got != integrity {
		return nil, fmt.Errorf("%s has the checksum %s, not that of %s", file, got, source)
	}
	return data, nil
}

// unpack returns the data files of the package by name.
func unpack(data []byte) (map[string][]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		name, ok := strings.CutPrefix(header.Name, dataDir)
		if !ok || !strings.HasSuffix(name, ".json") {
			continue
		}
		if files[name], err = io.ReadAll(archive); err != nil {
			return nil, err
		}
	}
}

// write writes the table.
func write(files map[string][]byte) ([]byte, error) {
	var manifest struct{ GeneratedAt string }
	if err := json.Unmarshal(files[".manifest.json"], &manifest); err != nil {
		return nil, fmt.Errorf(".manifest.json: %w", err)
	}
	if len(manifest.GeneratedAt) < len(time.DateOnly) {
		return nil, errors.New("the package does not say of when it is")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "#date %s\n", manifest.GeneratedAt[:len(time.DateOnly)])
	for _, p := range providers {
		var groups map[string]map[string]listed
		if err := json.Unmarshal(files[p.file+".json"], &groups); err != nil {
			return nil, fmt.Errorf("%s.json: %w", p.file, err)
		}
		kind := "provider"
		if p.maker {
			kind = "maker"
		}
		fmt.Fprintf(&b, "#%s %s\n", kind, p.name)
		for _, m := range chatting(groups) {
			fmt.Fprintf(&b, "%s\n", m.line())
		}
	}
	return b.Bytes(), nil
}
