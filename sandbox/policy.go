package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Policy says what one command may reach. It travels as JSON from the agent to the
// helper that starts the command. All paths are absolute; paths that do not exist
// when the command starts are left out.
//
// Where two of its paths are the same one, Secrets wins over Masked, that over
// ReadOnly, that over Writable, that over Readable, and that over Concealed; where one
// lies beneath the other, the deeper one counts.
type Policy struct {
	Kind Kind `json:"kind"`
	// Program builds the sandbox: bwrap or sandbox-exec. Landlock needs none.
	Program string `json:"program,omitempty"`
	// Writable are directories in which anything may be done.
	Writable []string `json:"writable,omitempty"`
	// ReadOnly are directories and files beneath Writable that stay as they are.
	// Landlock cannot do that: see [Report.Notes].
	ReadOnly []string `json:"read_only,omitempty"`
	// Masked are directories and files that cannot be read. Landlock cannot do that
	// beneath Writable.
	Masked []string `json:"masked,omitempty"`
	// Secrets are files of the project that cannot be opened. Landlock cannot do that
	// beneath Writable.
	Secrets []string `json:"secrets,omitempty"`
	// Readable are directories and files that may be read although they lie beneath
	// Masked, or where the command sees directories of its own, such as /tmp.
	Readable []string `json:"readable,omitempty"`
	// Checked are those of Writable and Readable that are shown only while they are what was checked.
	Checked []checkedFile `json:"checked,omitempty"`
	// Beside says that other commands run, which can write, while the sandbox is made.
	Beside bool `json:"beside,omitempty"`
	// Concealed are directories of which a command sees what else the policy names, such
	// as the home.
	Concealed []string `json:"concealed,omitempty"`
	// Tmp is the command's own directory for temporary files. Bubblewrap puts it in
	// the place of /tmp and /var/tmp; empty means one that goes with the command.
	Tmp string `json:"tmp,omitempty"`
	// Network leaves the network open.
	Network bool `json:"network,omitempty"`
	// ViaProxy says that the command reaches the network through a proxy alone: it is started in a network
	// namespace that is closed already, so that bubblewrap makes none.
	ViaProxy bool `json:"via_proxy,omitempty"`
	// Proxy is the port of the loopback address at which a command with ViaProxy finds its
	// proxy. On macOS, where there are no network namespaces, it is all that it can connect to.
	Proxy int `json:"proxy,omitempty"`
	// SSHConfig is the user's settings of ssh, which a command with ViaProxy sees with
	// shared connections switched off; empty where it sees none.
	SSHConfig string `json:"ssh_config,omitempty"`
	// Reading says that the command is to change nothing: there is nothing Writable but
	// Tmp, no device that holds anything, no socket unless the network is open, and no
	// system call that changes a file which cannot be written.
	Reading bool `json:"reading,omitempty"`
	// Outside says that the command is none of the sandbox: all is as it is for the user, but that Masked, the only other
	// list that there is, is not there for it. See [Box.Outside].
	Outside bool `json:"outside,omitempty"`
}

// Encode returns the policy for launch.Spec.Policy. A policy of kind None is empty.
func (p *Policy) Encode() (json.RawMessage, error) {
	if p == nil || p.Kind == None {
		return nil, nil
	}
	return json.Marshal(p)
}

func decodePolicy(data json.RawMessage) (*Policy, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var p Policy
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("sandbox: read policy: %w", err)
	}
	if p.Kind == "" {
		return nil, errors.New("sandbox: the policy names no kind")
	}
	return &p, nil
}
