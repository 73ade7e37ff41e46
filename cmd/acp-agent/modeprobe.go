package main

import "acp-agent/sandbox"

// testHookSandbox finds out how processes are confined; only tests set it.
var testHookSandbox func() *sandbox.Probe

// sandbox is what finds out how the processes of this machine are confined; nil
// means that they are not.
func (c *core) sandbox() *sandbox.Probe {
	if testHookSandbox != nil {
		return testHookSandbox()
	}
	return nil
}
