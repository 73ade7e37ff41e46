package sandbox

// Kind is the means by which processes are confined.
type Kind string

// The kinds, strongest first.
const (
	Bubblewrap Kind = "bubblewrap"   // Linux namespaces, by the system's bwrap
	Namespaces Kind = "namespaces"   // the same, by our own binary
	Landlock   Kind = "landlock"     // Linux, by our own binary started again
	Seatbelt   Kind = "sandbox-exec" // macOS
	None       Kind = "none"         // nothing: rules and questions are all there is
)

// HasView reports whether a command of the kind has a view of the disk, and a network, of its own.
func (k Kind) HasView() bool { return k == Bubblewrap || k == Namespaces }

// Report is what was found out about a machine.
type Report struct {
	Kind Kind `json:"kind"`
	// Network says that a process can be kept from the network.
	Network bool `json:"network"`
	// Notes say in plain sentences what the kind cannot promise here, and why a
	// stronger one was passed over.
	Notes []string `json:"notes,omitempty"`
	// Refused says why no process is started: the kind that the user requires does
	// not work here. Empty means that processes run.
	Refused string `json:"refused,omitempty"`
	// NoPlace says that no kind could be tried out, for the trial found no place on the
	// disk.
	NoPlace bool `json:"no_place,omitempty"`
	// Program is the system's program that builds the sandbox; empty if there is none.
	Program string `json:"program,omitempty"`
}

// Confines reports whether there is a sandbox at all.
func (r Report) Confines() bool { return r.Kind != None && r.Kind != "" }

// String says in one line what commands are confined by.
func (r Report) String() string {
	switch {
	case r.Refused != "":
		return "commands are refused: " + r.Refused
	case !r.Confines():
		return "none"
	case !r.Network:
		return string(r.Kind) + ", the network cannot be closed"
	}
	return string(r.Kind) + ", network off unless granted"
}

// Apart returns a program of the system and arguments that start the program after them in user and network
// namespaces of its own and leave the rest as it is; nil where the sandbox is built by none.
func (r Report) Apart() []string {
	if r.Kind != Bubblewrap {
		return nil
	}
	return []string{r.Program, "--unshare-user", "--unshare-net", "--die-with-parent", "--cap-drop", "ALL", "--dev-bind", "/", "/", "--"}
}
