package pipeline

import (
	"context"
	"time"

	"acp-agent/internal/resultcache"
	"acp-agent/tools"
)

// cacheUse answers one call from the cache of results, and stores its result there.
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
	stored, ok := cache.Get(c.key(), statIn(ctx, runtime))
	if !ok {
		return nil, false
	}
	result := stored.(tools.Result)
	return &result, true
}

// store stores the result of a cacheable call that succeeded. A result that depends on more than
// files, such as an editor's buffer, names no files and is not stored. began is cacheTime from before the tool ran.
func (c *cacheUse) store(ctx context.Context, runtime *callRuntime, result *tools.Result, began time.Time) {
	cache := c.pipeline.Cache
	if cache == nil || !c.entry.Cacheable || result == nil || result.Depends == nil || result.Partial {
		return
	}
	size := len(result.ModelText())
	for _, image := range result.Images {
		size += 2 * len(image.Data) // in the result and in the card
	}
	cache.Put(c.key(), resultcache.Entry{
		Value: *result, Bytes: size, Began: began, Depends: result.Depends,
	}, statIn(ctx, runtime))
}

// invalidate drops the stored results that the call may have made stale. A command drops everything,
// because its changes are not known.
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

// statIn returns how the cache looks at a file: through the runtime of the call, which may read it or not.
func statIn(ctx context.Context, runtime *callRuntime) resultcache.Stat {
	return func(path string) (resultcache.Stamp, error) {
		info, err := runtime.Info(ctx, path)
		if err != nil {
			return resultcache.Stamp{}, err
		}
		return resultcache.StampOf(info), nil
	}
}

// cacheTime returns the time by the cache's clock; zero without a cache.
func (p *Pipeline) cacheTime() time.Time {
	if p.Cache == nil {
		return time.Time{}
	}
	return p.Cache.Now()
}
