package builtin

import (
	"encoding/json"

	"acp-agent/tools"
)

// jobNames are the names of the argument that is a job.
func jobNames() map[string]tools.Field {
	return all(to("job"), "job_id", "id", "bash_id", "shell_id", "task_id", "command_id", "terminal_id", "process_id", "session_id")
}

// jobOutputAccepts: job_output as other agents call it.
func jobOutputAccepts() *tools.Accepts {
	return &tools.Accepts{
		Names: names("BashOutput", "bash_output", "TaskOutput", "AwaitShell", "get_terminal_output", "command_status", "read_terminal", "Monitor"),
		Sole:  "job",
		Fields: fields(
			jobNames(),
			all(to("pattern"), "regex", "wait_for", "until"),
			all(only("all lines are returned; pattern waits for one", ""), "filter"),
			all(to("block"), "block", "blocking"),
			all(mapped("wait", seconds), "timeout", "WaitDurationSeconds", "wait_seconds", "timeout_seconds"),
			all(mapped("wait", milliseconds), "timeout_ms", "block_until_ms", "wait_ms"),
		),
		Finish: finishJobOutput,
	}
}

// finishJobOutput reads whether to wait at all: the time that other agents name beside it is
// then the most.
func finishJobOutput(args map[string]any) error {
	switch block, _ := pop(args, "block"); {
	case block == false:
		delete(args, "wait")
	case block == true && !given(args, "wait"):
		args["wait"] = json.Number("30")
	}
	return nil
}

// jobStopAccepts: job_stop as other agents call it.
func jobStopAccepts() *tools.Accepts {
	return &tools.Accepts{
		Names:  names("KillShell", "KillBash", "kill_shell", "TaskStop", "kill_terminal", "terminate_command"),
		Sole:   "job",
		Fields: jobNames(),
	}
}

// seconds reads a time: seconds, and from 1000 on milliseconds, as bash does.
func seconds(value any) (any, error) {
	number, ok := numeric(value)
	if !ok || number < 1000 {
		return value, nil
	}
	return json.Number(trimNumber(number / 1000)), nil
}

func milliseconds(value any) (any, error) {
	number, ok := numeric(value)
	if !ok {
		return value, nil
	}
	return json.Number(trimNumber(number / 1000)), nil
}
