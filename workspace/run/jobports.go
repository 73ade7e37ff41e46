package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strconv"
	"syscall"
	"time"

	"acp-agent/internal/launch"
	"acp-agent/internal/netns"
	"acp-agent/internal/relay"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// How often the ports of a job are looked up. A server usually opens its port when it starts, and
// prints something then.
const (
	portPaceFirst = time.Second      // during portFirst
	portPaceLater = 5 * time.Second  // after it
	portFirst     = 30 * time.Second // from the start of the job
	// portGather is the time between new output and the look-up that it causes.
	portGather = 200 * time.Millisecond
	// maxPorts bounds the ports of a job that are shown: the lowest ones are.
	maxPorts = 20
)

// jobNetwork is the network in which a job listens. The zero value stands for a job that has not started, or has ended.
type jobNetwork struct {
	// ports lists the ports on which the job listens now.
	ports func() []int
	// dial connects to a port in the network of the session's commands; nil when the job is in the
	// network of the machine.
	dial func(ctx context.Context, port int) (net.Conn, error)
}

// network returns the network of a running command.
func (r *Runner) network(c *confined, p *launch.Process) jobNetwork {
	if space := r.namespace.space; space != nil && c.proxy != nil {
		return jobNetwork{func() []int { return ownPorts(space.Listeners, p) }, space.Dial}
	}
	return jobNetwork{func() []int { return ownPorts(netns.Listeners, p) }, nil}
}

// ownPorts returns the ports of the listeners that are a command's own.
func ownPorts(listeners func() ([]netns.Listener, error), p *launch.Process) (ports []int) {
	list, err := listeners()
	if err != nil || len(list) == 0 {
		return nil // the ports are only shown, and looked up again soon
	}
	own := p.Sockets()
	for _, l := range list {
		if own[l.Inode] {
			ports = append(ports, l.Port)
		}
	}
	return ports
}

// watchPorts refreshes the ports of a job until ctx ends, and then closes the ports of the machine
// that lead to them.
func (js *Jobs) watchPorts(ctx context.Context, j *job) {
	defer js.leaveNetwork(j)
	started := time.Now()
	for {
		pace := portPaceFirst
		if time.Since(started) > portFirst {
			pace = portPaceLater
		}
		wait := time.NewTimer(pace)
		select {
		case <-wait.C:
		case <-j.output.more():
			wait.Reset(portGather)
			select {
			case <-wait.C:
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
		wait.Stop()
		if ctx.Err() != nil {
			return
		}
		js.refreshPorts(j)
	}
}

// refreshPorts looks up on which ports a job listens, and reports a change. A port that a port of the
// machine leads to stays listed while nothing listens on it: the server may be restarting.
func (js *Jobs) refreshPorts(j *job) {
	j.portsMu.Lock()
	defer j.portsMu.Unlock()
	if j.network.ports == nil {
		return
	}
	found := shownPorts(j.network.ports())
	for port := range j.forwards {
		found = append(found, port)
	}
	js.publishPorts(j, found)
}

// shownPorts returns the lowest ports, each once.
func shownPorts(ports []int) []int {
	slices.Sort(ports)
	ports = slices.Compact(ports)
	return ports[:min(len(ports), maxPorts)]
}

// publishPorts sets the ports of a job, and reports a change. The caller holds portsMu.
func (js *Jobs) publishPorts(j *job, numbers []int) {
	var ports []kinds.Port
	slices.Sort(numbers)
	for _, number := range slices.Compact(numbers) {
		port := kinds.Port{Number: number, Inside: j.network.dial != nil}
		if f := j.forwards[number]; f != nil {
			port.Open = f.port
		}
		ports = append(ports, port)
	}
	if j.setPorts(ports) {
		js.callHook(func() { js.hooks.listens(j.snapshot()) })
	}
}

func (j *job) setPorts(ports []kinds.Port) (changed bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	changed = !slices.Equal(j.info.Ports, ports)
	j.info.Ports = ports
	return changed
}

// enterNetwork sets the network of a job that has started.
func (j *job) enterNetwork(n jobNetwork) {
	j.portsMu.Lock()
	defer j.portsMu.Unlock()
	j.network = n
	if j.forwards == nil {
		j.forwards = map[int]*forward{}
	}
}

// leaveNetwork closes what leads to the ports of a job that has ended, and forgets its network. It returns when no connection
// is left.
func (js *Jobs) leaveNetwork(j *job) {
	j.portsMu.Lock()
	defer j.portsMu.Unlock()
	for port, f := range j.forwards {
		f.server.Close()
		js.hooks.forwards(Forwarding{Job: j.snapshot(), Port: port, HostPort: f.port})
	}
	j.network, j.forwards = jobNetwork{}, nil
	j.setPorts(nil)
}

// forward is a port of the machine that leads to one of a job.
type forward struct {
	port   int // of the machine
	server *relay.Server
}

// Forward opens a port of the machine's loopback address, and joins its connections with the
// port of a job in the network of the session's commands, until the job ends or CloseForward is
// called. Only the user may ask for it. A hostPort of 0 stands for any free port. The error is an
// *tools.Error when no job listens on the port, when the job is in the network of the machine, and
// when the port of the machine cannot be opened.
func (js *Jobs) Forward(port, hostPort int) (tools.Job, error) {
	j, err := js.listensOn(port)
	if err != nil {
		return tools.Job{}, err
	}
	j.portsMu.Lock()
	defer j.portsMu.Unlock()
	switch f := j.forwards[port]; {
	case f != nil:
		return tools.Job{}, tools.Errorf(tools.BadInput, "port %d of %s is open already, at 127.0.0.1:%d", port, j.info.ID, f.port)
	case j.network.ports == nil:
		return tools.Job{}, tools.Errorf(tools.Unavailable, "%s has ended", j.info.ID)
	case j.network.dial == nil:
		return tools.Job{}, tools.Errorf(tools.BadInput, "port %d of %s needs no forwarding: it is a port of this machine as it is", port, j.info.ID)
	}
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(hostPort)))
	if err != nil {
		return tools.Job{}, hostPortError(hostPort, err)
	}
	dial, at := j.network.dial, listener.Addr().(*net.TCPAddr).Port
	js.hooks.forwards(Forwarding{Job: j.snapshot(), Port: port, HostPort: at, Open: true, ByUser: true})
	j.forwards[port] = &forward{
		port:   at,
		server: relay.Serve(listener, func(ctx context.Context) (net.Conn, error) { return dial(ctx, port) }),
	}
	js.publishPorts(j, kinds.PortNumbers(j.snapshot().Ports))
	return j.snapshot(), nil
}

// hostPortError says why a port of the machine cannot be opened.
func hostPortError(port int, err error) error {
	why := err.Error()
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		why = "another program has it"
	case errors.Is(err, fs.ErrPermission):
		why = "the system does not let you have it"
	}
	return &tools.Error{
		Kind: tools.Unavailable, Err: err, Message: fmt.Sprintf("port %d of this machine cannot be opened: %s", port, why),
		Hint: "another port of the machine can be named after that of the job; 0 takes one that is free",
	}
}

// listensOn finds the running job that listens on a port, the first where several do.
func (js *Jobs) listensOn(port int) (*job, error) {
	js.RefreshPorts()
	var others []int
	for _, j := range js.all() {
		for _, p := range j.snapshot().Ports {
			if p.Number == port {
				return j, nil
			}
			others = append(others, p.Number)
		}
	}
	message := fmt.Sprintf("no command in the background listens on port %d", port)
	if len(others) > 0 {
		message += fmt.Sprintf("; there are %v", others)
	}
	return nil, tools.Errorf(tools.BadInput, "%s", message)
}

// CloseForward closes the port of the machine that leads to a port of a job, and reports whether
// there was one. Its connections end.
func (js *Jobs) CloseForward(port int) (closed bool) {
	for _, j := range js.all() {
		closed = js.closeForward(j, port) || closed
	}
	return closed
}

func (js *Jobs) closeForward(j *job, port int) bool {
	j.portsMu.Lock()
	f := j.forwards[port]
	if f != nil {
		f.server.Close()
		delete(j.forwards, port)
		js.hooks.forwards(Forwarding{Job: j.snapshot(), Port: port, HostPort: f.port, ByUser: true})
	}
	j.portsMu.Unlock()
	if f != nil {
		js.refreshPorts(j)
	}
	return f != nil
}

// RefreshPorts looks up on which ports the jobs listen now.
func (js *Jobs) RefreshPorts() {
	for _, j := range js.all() {
		js.refreshPorts(j)
	}
}

// all returns the jobs, in the order of their start.
func (js *Jobs) all() []*job {
	js.mu.Lock()
	defer js.mu.Unlock()
	return slices.Clone(js.list)
}
