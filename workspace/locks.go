package workspace

import (
	"context"
	"runtime"
	"strings"
	"sync"
)

// Locks serialise read-change-write of files within the process (R40). The
// zero value is ready; it is safe for concurrent use.
type Locks struct {
	mu   sync.Mutex
	held map[string]*pathLock
}

// pathLock is held by whoever has its token.
type pathLock struct {
	token chan struct{}
	users int // holders and waiters
}

// Lock waits for the lock of a resolved path. unlock may be called more than
// once. The error is ctx's cause.
func (l *Locks) Lock(ctx context.Context, real string) (unlock func(), err error) {
	key := lockKey(real)
	lock := l.join(key)
	select {
	case lock.token <- struct{}{}:
	case <-ctx.Done():
		l.leave(key, lock)
		return nil, context.Cause(ctx)
	}
	return sync.OnceFunc(func() {
		<-lock.token
		l.leave(key, lock)
	}), nil
}

func (l *Locks) join(key string) *pathLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[string]*pathLock{}
	}
	lock := l.held[key]
	if lock == nil {
		lock = &pathLock{token: make(chan struct{}, 1)}
		l.held[key] = lock
	}
	lock.users++
	return lock
}

func (l *Locks) leave(key string, lock *pathLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lock.users--; lock.users == 0 {
		delete(l.held, key)
	}
}

// lockKey folds case where file systems usually do; on one that does not, two
// files merely wait for each other.
func lockKey(path string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(path)
	}
	return path
}
