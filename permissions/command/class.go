package command

// Class names the kind of finding behind a verdict.
type Class string

// The classes that allow or ask.
const (
	ReadOnly    Class = "read-only"   // on the list, with listed options
	Unlisted    Class = "unlisted"    // not on the list, or with an option that is not
	Dynamic     Class = "dynamic"     // only known when it runs
	Writes      Class = "write"       // writes a file
	Outside     Class = "outside"     // touches something outside the roots
	Wrapper     Class = "wrapper"     // runs another command
	Interpreter Class = "interpreter" // runs a program in another language
	Unparsed    Class = "unparsed"    // the parser does not accept the text
	Ambiguous   Class = "ambiguous"   // the shell may read the text differently
	Endless     Class = "endless"     // the text does not bound its time or its output
	Dangerous   Class = "dangerous"   // a finding of R118
)

// The classes that deny.
const (
	Limits     Class = "limits" // too long, too deep, or not text
	DeleteAll  Class = "DN1"    // recursive or forced delete of a root, home, workspace
	RawDevice  Class = "DN2"    // a raw device or a file system
	ForkBomb   Class = "DN3"    // a function that starts itself without end
	NetToShell Class = "DN4"    // network content into an interpreter
	Privilege  Class = "DN5"    // privilege escalation, setuid, capabilities
	PowerState Class = "DN6"    // power state, kill all, kill the agent
	Exfil      Class = "DN7"    // secrets or the environment over the network
	SecretRead Class = "DN8"    // a file that the tool read refuses
	Persist    Class = "DN9"    // persistence and self-modification
	ReverseSh  Class = "DN10"   // reverse shells
	ChmodAll   Class = "DN11"   // recursive chmod or chown of a root or home
)

// The sentences of R118, as it gives them.
const (
	reasonTraversal = "Path traversal detected"
	reasonDangerous = "Potentially dangerous command"
	reasonRedirect  = "Output redirection to sensitive location"
)
