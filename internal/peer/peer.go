package peer

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Options say what a Peer does with the process. The zero value speaks in lines.
type Options struct {
	Framing Framing
	// Notified gets the process's notifications, and Requested answers its requests; known is
	// false for a method that there is not. Both run on the goroutine that reads, so they must
	// not wait. nil means that notifications are dropped, and that no method is known.
	Notified  func(method string, params json.RawMessage)
	Requested func(method string, params json.RawMessage) (result any, known bool)
	// Cancel is the method that tells the process that the answer to a request is no longer
	// needed; its params are {"id": ...}. Empty means that the process is not told.
	Cancel string
}

// ErrEnded is why a peer cannot be used after its process ended, or was closed.
var ErrEnded = errors.New("its program has ended")

const (
	// maxReplies is how many answers to the process's own requests may wait to be written.
	maxReplies = 64
	// writeGrace is how long a process may take to read a message whose sender has given up,
	// and a cancellation.
	writeGrace = time.Second
)

// Peer is the other end of a process's streams. Its methods are safe for concurrent use.
//
// Goroutines: read and write, from New to the end of the stream; one for each cancellation
// that is under way, and for each sender that has given up before its message was written. Close
// brings about the end of all of them and waits for it.
type Peer struct {
	o       Options
	stream  io.ReadWriteCloser
	out     chan written
	replies chan []byte
	done    chan struct{} // closed when the stream has ended
	shut    sync.Once
	shuts   atomic.Bool // Shut was called
	running sync.WaitGroup

	mu      sync.Mutex
	last    int64
	waiting map[int64]chan *Message
	ended   error
	closed  bool // nothing more is started
}

// written is a message on its way, and a channel that is closed when the process has it.
type written struct {
	frame []byte
	done  chan struct{}
}

// New returns a peer over a stream whose Close ends the process and wakes reads and writes.
func New(stream io.ReadWriteCloser, o Options) *Peer {
	p := &Peer{
		o: o, stream: stream, out: make(chan written), replies: make(chan []byte, maxReplies),
		done: make(chan struct{}), waiting: map[int64]chan *Message{},
	}
	p.running.Go(p.read)
	p.running.Go(p.write)
	return p
}

// Err says why the process cannot be asked any more, ErrEnded or what was wrong with its
// messages; nil means that it can.
func (p *Peer) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// Done returns a channel that is closed when the process cannot be asked any more.
func (p *Peer) Done() <-chan struct{} { return p.done }

// Shut closes the stream once, and waits for another call that is doing so. All calls under
// way fail.
func (p *Peer) Shut() {
	p.shuts.Store(true)
	p.shut.Do(func() { _ = p.stream.Close() }) // the process is gone, whatever it says
}

// Close ends the process, and returns when nothing is left of the connection.
func (p *Peer) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.Shut()
	p.running.Wait()
}

// spawn runs f until Close at most.
func (p *Peer) spawn(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.running.Go(f)
	}
}

func (p *Peer) write() {
	for {
		var frame []byte
		var done chan struct{}
		select {
		case m := <-p.out:
			frame, done = m.frame, m.done
		case frame = <-p.replies:
		case <-p.done:
			return
		}
		if len(frame) > 0 {
			if _, err := p.stream.Write(frame); err != nil {
				p.Shut() // which ends read, too
				return
			}
		}
		if done != nil {
			close(done)
		}
	}
}

func (p *Peer) read() {
	err := p.receive()
	if p.shuts.Load() || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = ErrEnded
	}
	p.mu.Lock()
	p.ended = err
	p.mu.Unlock()
	close(p.done)
	p.Shut()
}

func (p *Peer) receive() error {
	in := bufio.NewReaderSize(p.stream, 64<<10)
	for {
		m, ok, err := p.o.Framing.read(in)
		if err != nil {
			return err
		}
		if ok {
			p.dispatch(m)
		}
	}
}

// dispatch hands a message on.
func (p *Peer) dispatch(m *Message) {
	switch {
	case m.Method != "" && len(m.ID) > 0:
		p.requested(m)
	case m.Method != "":
		if p.o.Notified != nil {
			p.o.Notified(m.Method, m.Params)
		}
	default:
		id, _ := m.Number()
		p.mu.Lock()
		answer := p.waiting[id]
		delete(p.waiting, id) // a second answer has no receiver
		p.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
}

// requested answers a request of the process.
func (p *Peer) requested(m *Message) {
	reply := Message{Version: "2.0", ID: m.ID}
	var result any
	known := false
	if p.o.Requested != nil {
		result, known = p.o.Requested(m.Method, m.Params)
	}
	raw, err := json.Marshal(result)
	switch {
	case !known:
		reply.Error = &Error{Code: codeNoMethod, Message: "not supported: " + m.Method}
	case err != nil:
		reply.Error = &Error{Message: err.Error()}
	default:
		reply.Result = raw
	}
	body, err := json.Marshal(reply)
	if err != nil {
		return // its id is not JSON, so that it cannot be answered
	}
	select {
	case p.replies <- p.o.Framing.wrap(body):
	default: // it asks and asks, and does not read the answers
		p.Shut()
	}
}
