//go:build !judgeoff

package pipeline

import "acp-agent/permissions/command"

// judgeText is the command judge.
func judgeText(text string, env command.Env) command.Verdict { return command.Judge(text, env) }
