package resultcache

import (
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// The bounds of R130, and one for memory.
const (
	DefaultEntries = 1000
	DefaultBytes   = 32 << 20
	DefaultTTL     = 5 * time.Minute
)

// racyWindow is how long before a call its files must have rested: the time
// stamps of some file systems are two seconds apart.
const racyWindow = 2 * time.Second

// overhead is what an entry costs besides its value and paths, about.
const overhead = 512

// Options are the bounds of a Cache; a zero field means the default.
type Options struct {
	Entries int
	Bytes   int
	TTL     time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Cache keeps results. It is safe for concurrent use.
type Cache struct {
	ttl      time.Duration
	maxBytes int
	now      func() time.Time

	mu    sync.Mutex // guards what follows; never held while a Stat runs
	lru   *simplelru.LRU[string, *kept]
	bytes int
	wrote time.Time // the last Invalidate or Clear
}

// Entry is a result on its way into the cache.
type Entry struct {
	// Value is handed out as it is to all who ask; no one may change it.
	Value any
	// Bytes is about how much memory Value takes.
	Bytes int
	// Began is [Cache.Now] from before the call began. With a zero Began nothing
	// is kept.
	Began time.Time
	// Depends are the absolute paths that the result was made from. None means
	// that it depends on nothing on disk.
	Depends []string
}

// kept is an entry in the cache; it never changes.
type kept struct {
	value   any
	bytes   int
	at      time.Time
	depends []dependency
}

// dependency is a file as it was when the result was made.
type dependency struct {
	path  string // clean
	stamp Stamp
}

// New returns an empty cache. A negative bound is an error.
func New(o Options) (*Cache, error) {
	if o.Entries < 0 || o.Bytes < 0 || o.TTL < 0 {
		return nil, fmt.Errorf("result cache: negative bound in %d entries, %d bytes, %v", o.Entries, o.Bytes, o.TTL)
	}
	c := &Cache{ttl: o.TTL, maxBytes: o.Bytes, now: o.Now}
	if c.ttl == 0 {
		c.ttl = DefaultTTL
	}
	if c.maxBytes == 0 {
		c.maxBytes = DefaultBytes
	}
	if c.now == nil {
		c.now = time.Now
	}
	if o.Entries == 0 {
		o.Entries = DefaultEntries
	}
	lru, err := simplelru.NewLRU(o.Entries, func(_ string, k *kept) { c.bytes -= k.bytes })
	if err != nil {
		return nil, fmt.Errorf("result cache: %w", err)
	}
	c.lru = lru
	return c, nil
}

// Now is the cache's time, without the monotonic part: a laptop's sleep counts.
func (c *Cache) Now() time.Time { return c.now().Round(0) }

// Get returns the result kept under key, if it is not older than the TTL and
// its dependencies are as they were. A stale one is dropped.
func (c *Cache) Get(key string, stat Stat) (value any, ok bool) {
	c.mu.Lock()
	k, ok := c.lru.Get(key)
	c.mu.Unlock()
	if !ok {
		return nil, false
	}
	if c.young(k) && unchanged(k.depends, stat) {
		return k.value, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, ok := c.lru.Peek(key); ok && now == k {
		c.lru.Remove(key)
	}
	return nil, false
}

// young is false as well when the clock was set back: the age is not known.
func (c *Cache) young(k *kept) bool {
	age := c.Now().Sub(k.at)
	return age >= 0 && age < c.ttl
}

func unchanged(depends []dependency, stat Stat) bool {
	for _, d := range depends {
		stamp, err := stat(d.path)
		if err != nil || stamp != d.stamp {
			return false
		}
	}
	return true
}

// Put keeps a result under key, in place of an older one, and reports whether
// it did. It does not keep what it cannot trust or afford: when a dependency
// is missing or changed shortly before the call or since, when something was
// invalidated since the call began, or when the entry alone exceeds the bytes.
// Errors are never put; that is the caller's duty (R130).
func (c *Cache) Put(key string, e Entry, stat Stat) bool {
	if e.Began.IsZero() {
		return false
	}
	k := &kept{value: e.Value, bytes: max(e.Bytes, 0) + overhead, at: c.Now()}
	settled := e.Began.Add(-racyWindow)
	for _, path := range e.Depends {
		stamp, err := stat(path)
		if err != nil || !stamp.changedBefore(settled) {
			return false
		}
		k.depends = append(k.depends, dependency{path: filepath.Clean(path), stamp: stamp})
		k.bytes += len(path) + overhead/4
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	if k.bytes > c.maxBytes || !c.wrote.Before(e.Began) {
		return false
	}
	c.lru.Remove(key)
	for c.bytes+k.bytes > c.maxBytes {
		c.lru.RemoveOldest()
	}
	c.bytes += k.bytes
	c.lru.Add(key, k)
	return true
}
