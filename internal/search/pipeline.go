package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

const (
	queuedJobs = 64      // batches between the walk and the end of the line
	chunkBytes = 1 << 20 // matches a worker holds before it waits for its turn
)

// A pipeline searches batches in parallel and hands their matches on in order.
//
// Goroutines, all started by run and gone when it returns: one walks and puts
// every job on two channels, queue (in order, for the collector) and work (for
// the goroutine that is free); o.Workers search; the caller's own collects. Workers take
// jobs in order, so the job at the head of the queue is always being worked
// on. A worker with more than two chunks for a job waits until the job is at
// the head: memory stays bounded, and nothing can lock up.
type pipeline struct {
	o   GrepOptions
	m   *matcher
	all io.Writer

	queue  chan *job
	work   chan *job
	chunks sync.Pool
	enough atomic.Bool // no more lines will be shown

	res     GrepResult
	written int64
}

// A job is a batch on its way.
type job struct {
	batch
	chunks chan *chunk // closed by the worker
}

func newPipeline(o GrepOptions, m *matcher, all io.Writer) *pipeline {
	return &pipeline{
		o: o, m: m, all: all,
		queue: make(chan *job, queuedJobs),
		work:  make(chan *job, queuedJobs),
	}
}

// run searches what walk visits. A limit that ends the search is not an error.
func (p *pipeline) run(ctx context.Context, walk func(context.Context, func(batch) error) error) (GrepResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(p.queue)
		defer close(p.work)
		if err := walk(ctx, func(b batch) error { return p.put(ctx, b) }); err != nil {
			cancel(err)
		}
	})
	for range p.o.Workers {
		wg.Go(func() { p.worker(ctx) })
	}
	p.collect(cancel)
	wg.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, errLimit) {
		return GrepResult{}, err
	}
	return p.res, nil
}

// put queues a batch. Once a job is in the queue it also reaches a worker,
// cancelled or not: the collector waits for it.
func (p *pipeline) put(ctx context.Context, b batch) error {
	j := &job{batch: b, chunks: make(chan *chunk, 1)}
	select {
	case p.queue <- j:
	case <-ctx.Done():
		b.dir.release()
		return context.Cause(ctx)
	}
	p.work <- j
	return nil
}

func (p *pipeline) worker(ctx context.Context) {
	s := newScanner(p.m)
	for j := range p.work {
		p.search(ctx, s, j)
		j.dir.release()
		close(j.chunks)
	}
}

// search works through one job.
func (p *pipeline) search(ctx context.Context, s *scanner, j *job) {
	rec := &recorder{p: p, job: j, chunk: p.newChunk()}
	s.match = rec.match
	rec.dir = printedDir(p.o.Base, j.rel)
	for _, name := range j.names {
		if ctx.Err() != nil {
			break
		}
		if p.o.Skip != nil && p.o.Skip(rec.dir+name) {
			rec.chunk.secret++
			continue
		}
		f, err := j.dir.Open(name)
		if err != nil {
			rec.chunk.unreadable++
			continue
		}
		rec.name, rec.inFile = name, 0
		err = s.search(ctx, f)
		f.Close() //nolint:errcheck // opened for reading: nothing to lose
		switch {
		case errors.Is(err, errBinary):
			rec.chunk.binary++
		case err != nil && ctx.Err() == nil:
			rec.chunk.unreadable++
		}
	}
	j.chunks <- rec.chunk
}

// collect takes the chunks in order until the walk is over and every job done.
func (p *pipeline) collect(cancel context.CancelCauseFunc) {
	failed := false
	for j := range p.queue {
		for c := range j.chunks {
			if !failed {
				if err := p.take(c); err != nil {
					failed = true
					cancel(err)
				}
			}
			p.free(c)
		}
	}
}

// take adds a chunk to the result.
func (p *pipeline) take(c *chunk) error {
	p.res.Total += c.total
	p.res.Files += c.files
	p.res.Binary += c.binary
	p.res.Secret += c.secret
	p.res.Unreadable += c.unreadable
	for _, l := range c.lines {
		if len(p.res.Lines) == p.o.MaxTotal {
			p.enough.Store(true)
			break
		}
		p.res.Lines = append(p.res.Lines, l.show(c.text, p.o.MaxLine))
	}
	if p.all == nil {
		return nil
	}
	if _, err := p.all.Write(c.text); err != nil {
		return fmt.Errorf("write the full list of matches: %w", err)
	}
	if p.written += int64(len(c.text)); p.written >= p.o.MaxBytes {
		p.res.Truncated = true
		return errLimit
	}
	return nil
}
