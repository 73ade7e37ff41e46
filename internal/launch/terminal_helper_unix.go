//go:build linux || darwin

package launch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// maxSpec bounds the file of a spec: command and environment together cannot
// be larger and still be started.
const maxSpec = 8 << 20

// helpTerminal serves an agent through named pipes and a client through the
// standard descriptors.
func helpTerminal(file string, steps []Step) int {
	code, err := runInTerminal(file, steps)
	if err != nil {
		fmt.Fprintln(os.Stderr, "acp-agent:", err)
	}
	return code
}

func runInTerminal(file string, steps []Step) (int, error) {
	line, err := takeSpec(file)
	if err != nil {
		return exitFailed, err
	}
	spec, c, err := decodeSpec(line)
	if err != nil {
		return exitFailed, err
	}
	f := c.Fifos
	if f == nil {
		return exitFailed, errors.New("launch: command names no pipe to its agent")
	}
	control, err := openFifo(f.Control, os.O_RDONLY)
	if err != nil {
		return exitFailed, err
	}
	output, err := openFifo(f.Output, os.O_WRONLY)
	if err != nil {
		return exitFailed, err
	}
	status, err := openFifo(f.Status, os.O_WRONLY)
	if err != nil {
		return exitFailed, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return exitFailed, err
	}
	h := helper{
		steps:  steps,
		status: status,
		stops:  make(chan stop),
		files:  stdio{out: w},
		tee:    func() { tee(r, output, os.Stdout) },
	}
	h.relaySignals()
	go readStops(bufio.NewReader(control), h.stops, func([]byte) {}) // lives as long as the process
	var end Status
	if err = contain(); err == nil {
		end, err = h.run(spec)
	}
	if err != nil {
		h.report(record{Error: err.Error()}) // the client need not know why
		return exitFailed, nil
	}
	return end.ExitCode, nil
}

// takeSpec reads the spec's file and removes it. The file decides what runs, so
// it must belong to the agent alone.
func takeSpec(path string) ([]byte, error) {
	f, err := openOwn(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := os.Remove(path); err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSpec {
		return nil, fmt.Errorf("launch: %q is not a command's file", path)
	}
	return io.ReadAll(io.LimitReader(f, maxSpec))
}

// openFifo opens one end of a named pipe of our own. A writing end without a
// reader is an error.
func openFifo(path string, mode int) (*os.File, error) {
	f, err := openOwn(path, mode)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Type() != os.ModeNamedPipe {
		err = fmt.Errorf("launch: %q is not a named pipe", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// openOwn opens a file that is not a link and that no one else may touch.
func openOwn(path string, mode int) (*os.File, error) {
	fd, err := unix.Open(path, mode|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", path, err)
	}
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	if err == nil && (int(st.Uid) != os.Geteuid() || st.Mode&0o077 != 0 || st.Nlink > 1) {
		err = errors.New("not a private file of the agent")
	}
	if err == nil {
		err = settleFifo(fd)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("open %q: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// tee copies the command's output to the agent and to the terminal until it
// ends. One that does not take it any more is left out.
func tee(from io.Reader, to ...io.Writer) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		for i, w := range to {
			if w == nil || n == 0 {
				continue
			}
			if _, werr := w.Write(buf[:n]); werr != nil {
				to[i] = nil
			}
		}
		if err != nil {
			return
		}
	}
}
