package sandbox

// innerPath is where a command with a view of its own finds our binary.
const innerPath = "/dev/acp-agent"

// LoginArg is the first argument that makes our binary, within a sandbox, the credential helper of git, which
// asks the command's proxy for a login.
const LoginArg = "__login"

// GitLoginEnv returns the variables that make our binary the only credential helper of git in a sandbox of this
// kind: the user's own helpers find nothing there. It returns nil where commands do not find our binary.
func (k Kind) GitLoginEnv() []string {
	if !k.HasView() {
		return nil
	}
	return []string{
		"GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=credential.helper", "GIT_CONFIG_VALUE_0=", // drops the helpers that were set before
		"GIT_CONFIG_KEY_1=credential.helper", "GIT_CONFIG_VALUE_1=!" + innerPath + " " + LoginArg,
	}
}
