package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// systemSSH is what ssh reads after the user's own settings; of each setting the first one that
// it reads counts.
const systemSSH = "/etc/ssh/ssh_config"

// viaProxy leads ssh through the command's proxy, unless the
// user's settings name another way to a host, and the programs that start ssh with it. What the
// system's file includes is left out: ssh refuses files of root's in a namespace where root is
// no one.
func (v *view) viaProxy(config string) {
	system, err := os.ReadFile(systemSSH)
	if err != nil {
		return // ssh is not installed
	}
	path, err := filepath.EvalSymlinks(systemSSH)
	if err != nil {
		return
	}
	text := fmt.Appendf(nil, "ProxyCommand %s %s %%h %%p\n", innerPath, ConnectArg)
	v.add(viewStep{do: coverFile, path: path, data: append(text, withoutIncludes(system)...), perm: 0o444})
	if config == "" {
		return
	}
	own, err := os.ReadFile(config)
	if err != nil {
		return // it is gone
	}
	// A connection that others share would be made, or looked for, outside.
	v.add(viewStep{do: coverFile, path: config, data: append([]byte("ControlMaster no\nControlPath none\n"), own...), perm: 0o444})
}

// withoutIncludes drops the lines that include other files.
func withoutIncludes(config []byte) []byte {
	var kept []byte
	for line := range bytes.Lines(config) {
		word, _, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(string(line), "=", " ")), " ")
		if !strings.EqualFold(word, "include") {
			kept = append(kept, line...)
		}
	}
	return kept
}
