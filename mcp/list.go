package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/kinds"
)

// listing is one of the lists of a server, or several.
type listing uint32

const (
	toolList listing = 1 << iota
	promptList
	resourceList

	allLists = toolList | promptList | resourceList
)

// listLimit bounds the list of prompts, and that of resources. A server that never answers
// keeps its tools.
const listLimit = 10 * time.Second

// listGrace is how long the tools of a server wait for its prompts and resources before
// they count as there.
const listGrace = time.Second

// A server may say at any time that its lists have changed, after each reading, too. They
// are read at most often within each spell, so that it keeps no one busy.
const (
	often = 5
	spell = 5 * time.Second
)

// pace keeps when lists were read last.
type pace struct{ last []time.Time }

// rest notes a reading, and says how long the next one has to wait.
func (p *pace) rest(now time.Time) time.Duration {
	if p.last = append(p.last, now); len(p.last) < often {
		return 0
	}
	p.last = p.last[len(p.last)-often:]
	return p.last[0].Add(spell).Sub(now)
}

// offers is what a server lists beside its tools.
type offers struct {
	prompts              []Prompt
	resources, templates []Resource

	droppedPrompts, droppedResources []Dropped
}

// read reads the lists of the server, the tools first. Only without those is it of no use.
func (l *link) read(ctx context.Context, c *connection, which listing) error {
	if which&toolList != 0 {
		if err := l.listTools(ctx, c); err != nil {
			return err
		}
		defer time.AfterFunc(listGrace, l.markTried).Stop()
	}
	if which&promptList != 0 {
		l.listPrompts(ctx, c)
	}
	if which&resourceList != 0 {
		l.listResources(ctx, c)
	}
	return nil
}

// collect reads a list whose pages have no end of their own: at most most entries of it, and what
// a message may hold. rest says that there is more.
func collect[T any](pages iter.Seq2[*T, error], most int, what string) (taken []*T, rest string, err error) {
	size := 0
	for entry, err := range pages {
		if err != nil {
			return nil, "", err
		}
		raw, err := json.Marshal(entry)
		if size += len(raw); err != nil || size > maxFrame {
			return taken, fmt.Sprintf("only the first %d MiB of a server's list are used", maxFrame>>20), nil
		}
		if entry == nil {
			continue
		}
		if taken = append(taken, entry); len(taken) == most {
			return taken, fmt.Sprintf("only the first %d %s of a server are used", most, what), nil
		}
	}
	return taken, "", nil
}

// listTools reads the server's tools, and has them known from the next turn on (R91).
func (l *link) listTools(ctx context.Context, c *connection) error {
	ctx, over := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("it did not list its tools within %v", startLimit))
	defer over()
	defer context.AfterFunc(ctx, c.abort)()
	var listed []*sdk.Tool
	rest := ""
	can := c.session.InitializeResult().Capabilities
	if can.Tools != nil {
		var err error
		if listed, rest, err = collect(c.session.Tools(ctx, nil), maxTools, "tools"); err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return err
		}
	}
	known, names, dropped := l.convert(listed, aboutOf(c.session.InitializeResult()))
	if rest != "" {
		dropped = append(dropped, Dropped{Kind: "tool", Name: "others", Reason: rest})
	}
	if reader := l.reader(); can.Resources != nil && !slices.ContainsFunc(names, func(n Name) bool { return n.ID == reader.ID }) {
		known, names = append(known, reader), append(names, Name{ID: reader.ID, Tool: readerName})
	}
	l.mu.Lock()
	l.tools, l.names, l.dropped, l.live = known, names, dropped, c
	l.mu.Unlock()
	if !l.resolve(Ready, nil) {
		return errEnded
	}
	l.manager.change()
	return nil
}

// aboutOf is what a server says of itself in one line: its title, else the beginning of its
// instructions.
func aboutOf(said *sdk.InitializeResult) string {
	about := ""
	if said.ServerInfo != nil {
		about = said.ServerInfo.Title
	}
	if strings.TrimSpace(about) == "" {
		about, _, _ = strings.Cut(strings.TrimSpace(said.Instructions), "\n")
		about, _, _ = strings.Cut(about, ". ")
	}
	return kinds.Line(clean(about, maxFieldText), maxFieldText)
}

// listPrompts reads the server's prompts. When that fails, those are kept that it had.
func (l *link) listPrompts(ctx context.Context, c *connection) {
	var listed []*sdk.Prompt
	rest, slow := "", fmt.Errorf("it did not list its prompts within %v", listLimit)
	if c.session.InitializeResult().Capabilities.Prompts != nil {
		ctx, _, over := c.bounded(ctx, listLimit, slow)
		defer over()
		var err error
		if listed, rest, err = collect(c.session.Prompts(ctx, nil), maxPrompts, "prompts"); err != nil {
			l.update(func(o *offers) { o.droppedPrompts = notListed("prompt", ctx, err) })
			return
		}
	}
	prompts, dropped := l.promptsOf(listed)
	if rest != "" {
		dropped = append(dropped, Dropped{Kind: "prompt", Name: "others", Reason: rest})
	}
	l.update(func(o *offers) { o.prompts, o.droppedPrompts = prompts, dropped })
	l.manager.announce()
}

// listResources reads what the server lists to be read. When that fails, what it had is
// kept.
func (l *link) listResources(ctx context.Context, c *connection) {
	if c.session.InitializeResult().Capabilities.Resources == nil {
		l.update(func(o *offers) { o.resources, o.templates, o.droppedResources = nil, nil, nil })
		return
	}
	slow := fmt.Errorf("it did not list its resources within %v", listLimit)
	ctx, _, over := c.bounded(ctx, listLimit, slow)
	defer over()
	resources, templates, dropped, err := c.resources(ctx)
	if err != nil {
		l.update(func(o *offers) { o.droppedResources = notListed("resource", ctx, err) })
		return
	}
	l.update(func(o *offers) { o.resources, o.templates, o.droppedResources = resources, templates, dropped })
}

func (l *link) update(change func(*offers)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.offers)
}

// notListed says why a list could not be read.
func notListed(kind string, ctx context.Context, err error) []Dropped {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if said, ok := errors.AsType[*jsonrpc.Error](err); ok {
		err = errors.New(said.Message)
	}
	return []Dropped{{Kind: kind, Name: "all", Reason: kinds.Line(err.Error(), maxFieldText)}}
}
