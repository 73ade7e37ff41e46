package sandbox

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// CanaryArg is the first argument that makes our binary try out a sandbox from
// within, for [Finder].
const CanaryArg = "__canary"

// canary is what the trial does, and what came of it.
type canary struct {
	Outside string `json:"outside"` // must not be written
	Inside  string `json:"inside"`  // must be written
	Secret  string `json:"secret"`  // must not be read

	WroteOutside bool   `json:"wrote_outside"`
	WroteInside  bool   `json:"wrote_inside"`
	Read         string `json:"read"`
	Namespace    string `json:"namespace"` // of the network
	Stream       string `json:"stream"`    // "open" where a connection could be tried
	Datagram     string `json:"datagram"`
}

// Canary is the main of the trial: it reads what to try from the argument and writes
// to out what came of it. The result is an exit code.
func Canary(args []string, out io.Writer) int {
	var c canary
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &c) != nil {
		return 2
	}
	c.WroteOutside = os.WriteFile(c.Outside, nil, 0o600) == nil
	c.WroteInside = os.WriteFile(c.Inside, nil, 0o600) == nil
	if text, err := os.ReadFile(c.Secret); err == nil {
		c.Read = string(text)
	}
	c.lookAtNetwork()
	if json.NewEncoder(out).Encode(c) != nil {
		return 1
	}
	return 0
}

const open = "open"

// lookAtNetwork sends nothing: a port of our own that no one serves answers at
// once, and a datagram's connection is an entry in the kernel. The address is one
// that is reserved for examples.
func (c *canary) lookAtNetwork() {
	c.Namespace, _ = os.Readlink("/proc/self/ns/net")
	c.Stream, c.Datagram = tryDial("tcp", "127.0.0.1:1"), tryDial("udp", "192.0.2.1:9")
}

func tryDial(network, address string) string {
	conn, err := net.Dial(network, address)
	if err == nil {
		conn.Close()
		return open
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return open
	}
	return err.Error()
}

// passed compares the trial with what the agent itself finds outside. closed says
// that the network was out of reach.
func (c *canary) passed(secret string) (problem string, closed bool) {
	var here canary
	here.lookAtNetwork()
	_, err := os.Lstat(c.Outside)
	switch {
	case err == nil:
		return "a trial command wrote where it must not", false
	case !c.WroteInside || missing(c.Inside):
		return "a trial command could not write where it may", false
	case c.Read == secret:
		return "a trial command read a secret file", false
	}
	apart := c.Namespace != "" && c.Namespace != here.Namespace
	return "", c.Datagram != open && (apart || c.Stream != open)
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return err != nil
}
