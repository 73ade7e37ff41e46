//go:build linux || darwin

package launch

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// PrepareTerminal makes everything ready for a client to run the command in a
// terminal of its own, by argv (R156). The argument vector holds neither the
// command nor its environment; those are in a private file, which the helper
// removes. dir is an existing directory that belongs to us alone, such as the
// session's; what is put there is gone once the helper has started.
//
// The process is the same as one of [Launcher.StartStreams]: out gets the whole
// stream, whatever the terminal keeps, and Stop works without the client. It
// is not running yet. If the client refuses to run it, or says that it has
// ended while Done stays open, Stop abandons it.
//
// On Windows the error is [errors.ErrUnsupported].
func (l *Launcher) PrepareTerminal(dir string, spec Spec, out io.Writer) (argv []string, p *Process, err error) {
	if err := spec.check(); err != nil {
		return nil, nil, err
	}
	if !filepath.IsAbs(dir) {
		return nil, nil, fmt.Errorf("launch: directory %q is not an absolute path", dir)
	}
	dir, err = os.MkdirTemp(dir, "exec-")
	if err != nil {
		return nil, nil, fmt.Errorf("launch: prepare terminal: %w", err)
	}
	f := &fifos{
		Control: filepath.Join(dir, "control"),
		Output:  filepath.Join(dir, "output"),
		Status:  filepath.Join(dir, "status"),
	}
	lk := &link{dir: dir}
	cookie := rand.Text()
	file := filepath.Join(dir, "spec")
	line, err := spec.encode(channels{Fifos: f}, cookieName+"="+cookie, "PWD="+spec.Dir)
	if err == nil {
		err = os.WriteFile(file, line, 0o600)
	}
	if err == nil {
		err = lk.openFifos(f)
	}
	if err != nil {
		lk.close()
		lk.output.Close()
		return nil, nil, fmt.Errorf("launch: prepare terminal: %w", err)
	}
	p = newProcess(cookie, nil, lk)
	p.run(out, nil, nil)
	return l.helperArgv(spec, specFlag, file), p, nil
}

// openFifos makes the named pipes and opens the agent's ends. After an error
// some may be open.
func (l *link) openFifos(f *fifos) (err error) {
	for _, path := range []string{f.Control, f.Output, f.Status} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			return fmt.Errorf("make pipe %q: %w", path, err)
		}
	}
	// Both ways, since a writer alone cannot come first.
	if l.control, err = openFifo(f.Control, os.O_RDWR); err != nil {
		return err
	}
	if l.output, err = openFifo(f.Output, os.O_RDONLY); err != nil {
		return err
	}
	if l.status, err = openFifo(f.Status, os.O_RDONLY); err != nil {
		return err
	}
	for _, path := range []string{f.Output, f.Status} {
		standIn, err := openFifo(path, os.O_WRONLY)
		if err != nil {
			return err
		}
		l.standIns = append(l.standIns, standIn)
	}
	return nil
}
