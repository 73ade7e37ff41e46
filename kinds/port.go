package kinds

import "fmt"

// Port is a TCP port on which a command listens.
type Port struct {
	// Number is its own, inside the sandbox or outside.
	Number int
	// Inside says that the machine does not reach it: it is in the network of the session's
	// commands.
	Inside bool
	// Open is the port of the machine's loopback address that leads to it; 0 while none does.
	Open int
}

// String says where the port can be reached, as a part of a sentence about its command. The user
// alone can type the slash command that it names.
func (p Port) String() string {
	switch {
	case !p.Inside:
		return fmt.Sprintf("listens on port %d of this machine", p.Number)
	case p.Open > 0:
		return fmt.Sprintf("listens on port %d in the sandbox, open on this machine at 127.0.0.1:%d", p.Number, p.Open)
	}
	return fmt.Sprintf("listens on port %d in the sandbox; `/jobs forward %[1]d` opens it on this machine", p.Number)
}

// PortNumbers are the numbers of ports, nil of none.
func PortNumbers(ports []Port) (numbers []int) {
	for _, p := range ports {
		numbers = append(numbers, p.Number)
	}
	return numbers
}
