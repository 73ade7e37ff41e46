// Package resultcache keeps results of tools that only read, as long as what
// they were made from is unchanged.
//
// It owns the bounds (entries, bytes, age) and the decision whether a result
// is still true. It refuses to know tools and sessions, and never touches the
// disk: a function of the caller tells the state of a file. The permission
// pipeline runs before the cache is asked, on every call (trap 36).
//
// A result is kept only when it is certain to be newer than its files: one
// whose dependency changed less than two seconds before the call began, or
// later, is not, because a second change could hide behind the same time stamp
// of a coarse file system. For a kept one, any difference in size, times, mode
// or identity of a dependency, a missing dependency, or a failing stat makes
// it stale.
//
//	key := resultcache.Key("read", args, root, session, mode)
//	if value, ok := cache.Get(key, stat); ok {
//		return value.(tools.Result)
//	}
//	began := cache.Now()
//	result := execute()
//	if result.Err == nil {
//		cache.Put(key, resultcache.Entry{Value: result, Bytes: n, Began: began, Depends: paths}, stat)
//	}
//
// It imports the standard library and hashicorp/golang-lru, and starts no
// goroutine.
//
// # Requirements
//
// R130 (LRU of 1,000, 5 minutes, dependencies, own writes).
package resultcache
