package sandbox

import (
	"os"
	"path/filepath"
)

// ConnectArg is the first argument that makes our binary, within a sandbox, a way to one host
// through the command's proxy, for ssh.
const ConnectArg = "__connect"

// sshPublic are what of the user's directory of ssh a command needs that signs with the user's
// agent: which keys of servers are known, settings, and which key is which. Private keys are not
// among them.
var sshPublic = [...]string{"config", "known_hosts", "known_hosts2", "*.pub"}

// SSHAgentVariable names the socket of the user's agent of ssh.
const SSHAgentVariable = "SSH_AUTH_SOCK"

// sshAgent is the socket that a command may use, without links; empty for none.
func (r Request) sshAgent() string {
	if !r.ViaProxy {
		return ""
	}
	return resolved(r.SSHAgent)
}

// ssh lets a command that has the proxy sign with the user's agent of ssh, which they opened: by
// its socket, and what belongs to it of ~/.ssh. It returns the variable that names the socket
// itself, for links to it are not seen in a sandbox.
func (b *Box) ssh(r Request, p *Policy) (env []string) {
	agent := r.sshAgent()
	if agent == "" || !p.Kind.HasView() { // others keep local sockets closed
		return nil
	}
	p.Readable = append(p.Readable, agent)
	if b.Home != "" {
		dir := filepath.Join(b.Home, ".ssh")
		for _, pattern := range sshPublic {
			names, _ := filepath.Glob(filepath.Join(dir, pattern))
			for _, name := range names {
				if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
					p.Readable = append(p.Readable, name)
				}
			}
		}
		p.SSHConfig = resolved(filepath.Join(dir, "config"))
	}
	return []string{SSHAgentVariable + "=" + agent}
}
