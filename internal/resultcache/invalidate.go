package resultcache

import (
	"path/filepath"

	"acp-agent/internal/pathname"
)

// Invalidate drops what depends on paths that the agent itself has written:
// on a path, on anything beneath it, and on every directory above it, for its
// listing may have changed. Results of calls that began before are not kept
// any more. Paths are absolute.
func (c *Cache) Invalidate(paths ...string) {
	if len(paths) == 0 {
		return
	}
	written := make([]string, len(paths))
	for i, path := range paths {
		written[i] = filepath.Clean(path)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrote = c.Now()
	for _, key := range c.lru.Keys() {
		if k, ok := c.lru.Peek(key); ok && touches(k.depends, written) {
			c.lru.Remove(key)
		}
	}
}

// Clear drops everything, for when it is not known what was written.
func (c *Cache) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrote = c.Now()
	c.lru.Purge()
}

func touches(depends []dependency, written []string) bool {
	for _, d := range depends {
		for _, path := range written {
			if pathname.Contains(path, d.path) || pathname.Contains(d.path, path) {
				return true
			}
		}
	}
	return false
}
