package run

import "acp-agent/sandbox"

// commandTmp is the directory for the temporary files of one command that only reads.
type commandTmp struct {
	path   string // "" when there is none
	remove func()
}

// readingTmp is the directory of the next command, which remove deletes.
func (r *Runner) readingTmp() (path string, remove func()) {
	r.mu.Lock()
	tmp := r.tmp
	r.tmp = nil
	r.mu.Unlock()
	if tmp != nil {
		return tmp.path, tmp.remove
	}
	return r.w.Private.CommandTmp()
}

// prepareTmp makes the directory of the next command, unless there is one. No command sees
// it before.
func (r *Runner) prepareTmp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.tmp != nil {
		return
	}
	tmp := &commandTmp{}
	if tmp.path, tmp.remove = r.w.Private.CommandTmp(); tmp.path != "" {
		sandbox.PrepareTmp(tmp.path)
		r.tmp = tmp
	}
}
