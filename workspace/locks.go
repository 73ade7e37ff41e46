package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/userfile"
	"acp-agent/tools"
)

// Locks serialise read-change-write of files, within the process and with the
// other agent processes of the user (R40). The zero value is ready, and holds
// within the process; it is safe for concurrent use. Its fields are set before
// its first use.
type Locks struct {
	// Dir is a private directory of the user that all agent processes share;
	// empty means that other processes are not locked out.
	Dir string
	// Alone is called, once, with the reason why other processes cannot be locked out;
	// nil means no call.
	Alone func(error)

	mu       sync.Mutex
	held     map[string]*pathLock
	shared   *userfile.Ranges // with the other processes; nil until the first use
	unshared bool             // other processes cannot be locked out
}

const (
	// locksName is the file whose bytes are locked. Nothing is written to it.
	locksName = "edits"
	// lockWait bounds the wait for another process. An editor that does not
	// answer holds a file for less.
	lockWait = time.Minute
)

// pathLock is held with its token.
type pathLock struct {
	token chan struct{}
	users int // holders and waiters
}

// Lock waits for the lock of a resolved path. unlock may be called more than
// once. The error is ctx's cause, or says that another process kept the file
// for too long.
func (l *Locks) Lock(ctx context.Context, real string) (unlock func(), err error) {
	key := lockKey(real)
	lock := l.join(key)
	select {
	case lock.token <- struct{}{}:
	case <-ctx.Done():
		l.leave(key, lock)
		return nil, context.Cause(ctx)
	}
	free, err := l.lockShared(ctx, key)
	if err != nil {
		<-lock.token
		l.leave(key, lock)
		if _, held := errors.AsType[*userfile.HeldError](err); held {
			err = heldError(real, err)
		}
		return nil, err
	}
	return sync.OnceFunc(func() {
		free()
		<-lock.token
		l.leave(key, lock)
	}), nil
}

// lockShared takes the lock that other processes see. Where the system does not offer these locks, the lock
// holds in this process only.
func (l *Locks) lockShared(ctx context.Context, key string) (free func(), err error) {
	shared := l.open()
	if shared == nil {
		return func() {}, nil
	}
	free, err = shared.Lock(ctx, key, lockWait)
	if _, held := errors.AsType[*userfile.HeldError](err); err == nil || held || ctx.Err() != nil {
		return free, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.goAlone(err) // the system cannot lock there
	return func() {}, nil
}

// open returns the file of locks; nil when other processes cannot be locked out.
func (l *Locks) open() *userfile.Ranges {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Dir == "" || l.unshared || l.shared != nil {
		return l.shared
	}
	shared, err := userfile.OpenRanges(filepath.Join(l.Dir, locksName))
	if err != nil {
		l.goAlone(err)
		return nil
	}
	l.shared = shared
	return shared
}

// goAlone notes that other processes cannot be locked out. The caller holds mu.
func (l *Locks) goAlone(err error) {
	if !l.unshared && l.Alone != nil {
		l.Alone(err)
	}
	l.unshared = true
}

// Close closes the file of locks. No lock is held, and none is taken after it.
func (l *Locks) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	shared := l.shared
	l.shared, l.unshared = nil, true
	if shared == nil {
		return nil
	}
	return shared.Close()
}

func heldError(path string, err error) *tools.Error {
	return &tools.Error{
		Kind: tools.Timeout, Path: path, Err: err,
		Message: fmt.Sprintf("%s is being changed by another agent process, which did not finish within %v; nothing was changed", path, lockWait),
		Hint:    "try again later",
	}
}

// lockAll waits for the locks of several resolved paths.
func (l *Locks) lockAll(ctx context.Context, paths []string) (unlock func(), err error) {
	var held []func()
	unlock = func() {
		for _, free := range slices.Backward(held) {
			free()
		}
	}
	for _, path := range lockOrder(paths) {
		free, err := l.Lock(ctx, path)
		if err != nil {
			unlock()
			return nil, err
		}
		held = append(held, free)
	}
	return unlock, nil
}

// lockOrder sorts resolved paths into the order in which they are locked: one
// for all calls and processes, so that no two wait for each other.
func lockOrder(paths []string) []string {
	sorted := slices.SortedFunc(slices.Values(paths), func(a, b string) int {
		return strings.Compare(lockKey(a), lockKey(b))
	})
	return slices.CompactFunc(sorted, func(a, b string) bool { return lockKey(a) == lockKey(b) })
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
