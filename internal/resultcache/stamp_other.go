//go:build !linux && !darwin

package resultcache

// identify finds nothing here: a file is known by its size, times and mode.
func (s *Stamp) identify(any) {}
