package builtin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"acp-agent/tools"
)

const (
	noLater = "a command goes to the background from its start or not at all: send it with background"
	noInput = "there is no input; give it in the command: printf … | cmd"
	noWake  = "nothing can be scheduled here; you are told when a job ends, and job_output waits for its output"
)

// bashAccepts: bash as other agents call it.
func bashAccepts() *tools.Accepts {
	return &tools.Accepts{
		Names: slices.Concat(
			names("shell", "run_shell_command", "execute_command", "terminal", "run_command", "run_terminal_cmd", "run_in_terminal", "exec", "exec_command",
				"local_shell", "local_shell_call", "shell_command", "execute_bash", "execute_shell_command", "run_bash", "run_bash_command", "sh", "bash_tool", "shell_exec", "run",
				"developer__shell", "execute_shell", "run_shell", "bash_command", "terminal_command", "shell_tool", "bash_20250124", "run_cmd", "command"),
			answers(noInput, "write_stdin", "send_command_input"),
			answers(noWake, "ScheduleWakeup", "CronCreate"),
			answers("use git worktree, and cwd in the commands that follow", "EnterWorktree", "ExitWorktree"),
		),
		Sole: "cmd",
		Fields: fields(
			all(mapped("cmd", shellLine), "command", "script", "command_line", "shell_command", "bash_command", "input", "code", "bash", "commands", "cmds"),
			all(to("cwd"), "workdir", "working_directory", "work_dir", "working_dir", "directory", "dir", "dir_path", "current_directory", "path", "current_working_directory", "run_directory", "cd"),
			all(to("timeout"), "timeout"),
			all(to("timeout_ms"), "timeout_ms", "timeout_millis", "timeout_milliseconds", "block_until_ms", "yield_time_ms", "WaitMsBeforeAsync", "wait_ms_before_async"),
			all(to("timeout_s"), "timeout_seconds", "timeout_secs", "timeout_sec", "max_seconds"),
			all(only(noLater), "auto_background_after"),
			all(to("background"), "run_in_background", "is_background", "detach", "async", "is_bg"),
			all(mapped("background", opposite), "Blocking", "wait", "wait_for_completion"),
			all(only(noInput, "", false), "stdin", "is_input"),
			all(only("each call is a new shell, so there is nothing to restart; send the command", false), "restart", "reset"),
			all(only("set variables in the command: NAME=value cmd"), "env", "environment"),
			all(only("send the command without it; what the sandbox refuses is asked of the user when you send the command again", false, "use_default"),
				"dangerouslyDisableSandbox", "with_escalated_permissions", "sandbox_permissions", "sudo"),
			all(only("there is no terminal", false), "tty", "interactive", "pty"),
			all(drop("the output is bounded by the agent"), "max_output_tokens", "max_output_chars", "max_output_length", "output_limit"),
			all(drop("each call is a new shell"), "login", "new_session", "shell_id", "session_id", "terminal_id", "require_user_interaction"),
			all(only("commands are read by bash; name the program in the command", "", "bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash", true, false), "shell"),
			all(drop("nothing is allowed beyond this call"), "prefix_rule", "risk_level", "is_dangerous", "is_safe", "goal"),
		),
		Finish: finishBash,
	}
}

// finishBash leaves out what says nothing, and reads a time limit: seconds, and from 1000 on milliseconds, unless its
// name says which.
func finishBash(args map[string]any) error {
	if args["background"] == false { // as without it
		delete(args, "background")
	}
	var seconds float64
	given := false
	for _, name := range []string{"timeout", "timeout_ms", "timeout_s"} {
		value, ok := pop(args, name)
		if !ok {
			continue
		}
		number, ok := numeric(value)
		if !ok || number < 0 {
			return tools.Errorf(tools.BadInput, `bash: argument %q must be a number of seconds, or from 1000 on of milliseconds`, name)
		}
		if name == "timeout_ms" || name == "timeout" && number >= 1000 {
			number /= 1000
		}
		if given && number != seconds {
			return tools.Errorf(tools.BadInput, "bash: the time limit is given twice, with different values")
		}
		seconds, given = number, true
	}
	if given && seconds > 0 { // 0 is for the default, as elsewhere
		args["timeout"] = json.Number(trimNumber(seconds))
	}
	return nil
}

// trimNumber writes a number with the decimals that it has, at most three.
func trimNumber(number float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", number), "0"), ".")
}

// opposite is the other truth value; what is none stays, and the schema check names it.
func opposite(value any) (any, error) {
	if truth, ok := value.(bool); ok {
		return !truth, nil
	}
	return value, nil
}

func numeric(value any) (number float64, ok bool) {
	switch v := value.(type) {
	case json.Number:
		number, err := v.Float64()
		return number, err == nil
	case string:
		return number, json.Unmarshal([]byte(strings.TrimSpace(v)), &number) == nil
	}
	return 0, false
}

// shellLine makes a command of a list of words, as agents have it that start
// programs without a shell. What a shell of that list would run is the command.
func shellLine(value any) (any, error) {
	if text, ok := value.(string); ok && strings.HasPrefix(strings.TrimSpace(text), `["`) {
		var list []any
		if json.Unmarshal([]byte(text), &list) == nil {
			value = list
		}
	}
	list, ok := value.([]any)
	if !ok {
		return value, nil
	}
	words := make([]string, len(list))
	for i, word := range list {
		if words[i], ok = word.(string); !ok {
			return nil, fmt.Errorf("must be one command")
		}
	}
	shells := []string{"bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash"}
	switch {
	case len(words) == 0:
		return nil, fmt.Errorf("must be one command")
	case len(words) == 1:
		return words[0], nil
	case len(words) == 3 && slices.Contains(shells, words[0]) && (words[1] == "-lc" || words[1] == "-c"):
		return words[2], nil
	}
	for i := range words {
		words[i] = quoted(words[i])
	}
	return strings.Join(words, " "), nil
}

// quoted is a word that the shell takes as it is.
func quoted(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
