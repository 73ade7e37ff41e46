package pipeline

import (
	"context"
	"time"

	"acp-agent/internal/resultcache"
	"acp-agent/tools"
)

// cacheUse is the use that one call makes of the stored results.
type cacheUse struct {
	*sharedState
	access *commandAccess
}

// cached answers a read-only call with a stored result that still holds (R130). It runs after the
// permission stages, so a hit skips none of them.
func (c *cacheUse) cached(ctx context.Context, runtime *callRuntime) (*tools.Result, bool) {
	cache := c.pipeline.Cache
	if cache == nil || !c.entry.ReadOnly {
		return nil, false
	}
	kept, ok := cache.Get(c.key(), stampOf(ctx, runtime))
	if !ok {
		return nil, false
	}
	result := kept.(tools.Result)
	return &result, true
}

// keep keeps the result of a cacheable call that went well. A result made from
// more than files, such as an editor's buffer, says so by naming none.
func (c *cacheUse) keep(ctx context.Context, runtime *callRuntime, result *tools.Result, began time.Time) {
	cache := c.pipeline.Cache
	if cache == nil || !c.entry.Cacheable || result == nil || result.Depends == nil || result.Partial {
		return
	}
	size := len(result.ModelText())
	for _, image := range result.Images {
		size += 2 * len(image.Data) // here, and in the card
	}
	cache.Put(c.key(), resultcache.Entry{
		Value: *result, Bytes: size, Began: began, Depends: result.Depends,
	}, stampOf(ctx, runtime))
}

// invalidate drops what a changing call may have made untrue. What a command changes is not
// known, so a command drops everything.
func (c *cacheUse) invalidate(result *tools.Result) {
	cache := c.pipeline.Cache
	switch {
	case cache == nil:
	case c.access.mayChangeOtherFiles():
		cache.Clear()
	case result != nil:
		cache.Invalidate(result.TrackFiles...)
	}
}

func (c *cacheUse) key() string {
	session := c.pipeline.Workspace.Session()
	return resultcache.Key(c.Tool, c.Args, append([]string{session.ID, c.pipeline.mode()}, session.Roots...)...)
}

func stampOf(ctx context.Context, runtime *callRuntime) resultcache.Stat {
	return func(path string) (resultcache.Stamp, error) {
		info, err := runtime.Info(ctx, path)
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
