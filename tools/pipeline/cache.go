package pipeline

import (
	"context"
	"time"

	"acp-agent/internal/resultcache"
	"acp-agent/tools"
)

// cached answers a read-only call with a stored result that still holds (R130). It runs after the
// permission stages, so a hit skips none of them.
func (r *running) cached(ctx context.Context) (*tools.Result, bool) {
	cache := r.pipeline.Cache
	if cache == nil || !r.entry.ReadOnly {
		return nil, false
	}
	kept, ok := cache.Get(r.cacheKey(), r.stamp(ctx))
	if !ok {
		return nil, false
	}
	result := kept.(tools.Result)
	return &result, true
}

// keep keeps the result of a cacheable call that went well. A result made from
// more than files, such as an editor's buffer, says so by naming none.
func (r *running) keep(ctx context.Context, result *tools.Result, began time.Time) {
	cache := r.pipeline.Cache
	if cache == nil || !r.entry.Cacheable || result == nil || result.Depends == nil || result.Partial {
		return
	}
	size := len(result.ModelText())
	for _, image := range result.Images {
		size += 2 * len(image.Data) // here, and in the card
	}
	cache.Put(r.cacheKey(), resultcache.Entry{
		Value: *result, Bytes: size, Began: began, Depends: result.Depends,
	}, r.stamp(ctx))
}

// invalidateCache drops what a changing call may have made untrue. What a command changes is not
// known, so a command drops everything.
func (r *running) invalidateCache(result *tools.Result) {
	cache := r.pipeline.Cache
	switch {
	case cache == nil:
	case r.unpredictable():
		cache.Clear()
	case result != nil:
		cache.Invalidate(result.TrackFiles...)
	}
}

func (r *running) cacheKey() string {
	session := r.pipeline.Workspace.Session()
	return resultcache.Key(r.Tool, r.Args, append([]string{session.ID, r.pipeline.mode()}, session.Roots...)...)
}

func (r *running) stamp(ctx context.Context) resultcache.Stat {
	return func(path string) (resultcache.Stamp, error) {
		info, err := r.runtime.Info(ctx, path)
		if err != nil {
			return resultcache.Stamp{}, err
		}
		return resultcache.StampOf(info), nil
	}
}

// cacheTime is the moment before a call begins, as the cache sees time.
func (p *Pipeline) cacheTime() time.Time {
	if p.Cache == nil {
		return time.Time{}
	}
	return p.Cache.Now()
}
