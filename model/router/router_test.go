package router_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"acp-agent/model"
	"acp-agent/model/router"
)

// fake answers with what it was asked for, and counts in its memo.
type fake struct {
	name   string
	models []model.Info
	err    error
	block  <-chan struct{}
}

func (f *fake) Stream(_ context.Context, req *model.Request) iter.Seq2[model.Chunk, error] {
	n, _ := req.Memo.Value.(int)
	req.Memo.Value = n + 1
	return func(yield func(model.Chunk, error) bool) {
		yield(model.Chunk{Kind: model.Text, Text: f.name + ":" + req.Model + strings.Repeat("+", n)}, nil)
	}
}

func (f *fake) Models(ctx context.Context) ([]model.Info, error) {
	if f.block != nil {
		select {
		case <-f.block:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return f.models, f.err
}

func (f *fake) Probe(_ context.Context, id string) ([]string, error) { return []string{id}, nil }

func (f *fake) Describe(_ context.Context, id string) model.Info {
	return model.Info{ID: id, Name: "The " + id, Window: len(f.name)}
}

func server(f *fake) router.Server {
	return router.Server{
		Name: f.name, Title: strings.ToUpper(f.name), Discover: true,
		Open: func() (model.Provider, error) { return f, nil },
	}
}

func TestSplit(t *testing.T) {
	a, b, c := server(&fake{name: "a"}), server(&fake{name: "b"}), server(&fake{name: "c"})
	c.Missing = "it needs a key: set C_KEY"
	owners := a
	owners.Owners = true
	for _, tt := range []struct {
		name     string
		servers  []router.Server
		fallback string
		model    string
		want     string // "server id", or a part of the error
	}{
		{"qualified", []router.Server{a, b}, "", "b/m", "b m"},
		{"an id with slashes", []router.Server{a, b}, "a", "b/owner/m", "b owner/m"},
		{"bare", []router.Server{a, b}, "a", "m", "a m"},
		{"bare, no default", []router.Server{a, b, c}, "", "m", "its name has no provider before a slash; providers: a, b"},
		{"unknown", []router.Server{a, b, c}, "a", "x/m", `"x/m" cannot be used: there is no such provider; providers: a, b`},
		{"of an owner", []router.Server{owners, b}, "a", "x/m", "a x/m"},
		{"without a key", []router.Server{a, c}, "a", "c/m", "set C_KEY; providers: a"},
		{"the default without a key", []router.Server{b, c}, "c", "m", "set C_KEY; providers: b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := router.New(tt.servers, tt.fallback)
			server, id, err := r.Split(tt.model)
			if err == nil && server+" "+id != tt.want || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, %q, %v", server, id, err)
			}
			var unknown *router.UnknownError
			if errors.As(err, &unknown) != (err != nil) || (r.Check(tt.model) == nil) != (err == nil) {
				t.Errorf("%v against %v", err, r.Check(tt.model))
			}
		})
	}
}

// What a provider keeps of a conversation is dropped when another one answers.
func TestStream(t *testing.T) {
	r := router.New([]router.Server{server(&fake{name: "a"}), server(&fake{name: "b"})}, "a")
	memo := &model.Memo{}
	var got []string
	for _, name := range []string{"a/m", "m", "b/m", "b/m", "a/m", "x/m"} {
		for chunk, err := range r.Stream(t.Context(), &model.Request{Model: name, Memo: memo}) {
			if e := (*model.Error)(nil); errors.As(err, &e) {
				got = append(got, string(e.Message))
			} else {
				got = append(got, chunk.Text)
			}
		}
	}
	want := []string{"a:m", "a:m+", "b:m", "b:m+", "a:m", `the model "x/m" cannot be used: there is no such provider; providers: a, b`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A server that fails or does not answer leaves the others' models in the list.
func TestModels(t *testing.T) {
	listed, failing, silent := server(&fake{name: "a", models: []model.Info{{ID: "n", Name: "N"}, {ID: "m"}}}), server(&fake{name: "b", err: errors.New("no")}), server(&fake{name: "c", block: make(chan struct{})})
	listed.Models = []string{"m"}
	keyless := server(&fake{name: "d", models: []model.Info{{ID: "m"}}})
	keyless.Missing = "no key"
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := router.New([]router.Server{listed, failing, silent, keyless}, "")
	infos, err := r.Models(ctx)
	if err != nil || len(infos) != 2 || infos[0].ID != "a/m" || infos[0].Name != "The m" || infos[1].ID != "a/n" || infos[1].Group != "A" {
		t.Errorf("%+v, %v", infos, err)
	}
	if _, err := router.New([]router.Server{failing}, "").Models(ctx); err == nil {
		t.Error("no server answered, and the list is empty")
	}
	if info := r.Describe(ctx, "a/m"); info.ID != "a/m" || info.Group != "A" || info.Window != 1 {
		t.Errorf("%+v", info)
	}
	if info := r.Describe(ctx, "d/m"); info.ID != "d/m" || info.Window != 0 {
		t.Errorf("%+v", info)
	}
	if warnings, err := r.Probe(ctx, "c/m"); err != nil || !slices.Equal(warnings, []string{"m"}) {
		t.Errorf("%q, %v", warnings, err)
	}
}
