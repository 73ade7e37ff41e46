package session

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// jobsForms are the words that may follow /jobs.
const jobsForms = "stop NUMBER | stop all | forward PORT [HOSTPORT] | forward stop PORT"

// command lists the jobs of the session, stops some of them, or opens a port of theirs on the machine.
// No tool reaches it: a port is opened by the user's word alone.
func (j *jobs) command(words []string) string {
	switch {
	case len(words) == 0:
		return j.list()
	case len(words) == 2 && words[0] == "stop":
		return j.stop(words[1])
	case len(words) == 3 && words[0] == "forward" && words[1] == "stop":
		return j.closeForward(words[2])
	case len(words) == 2 && words[0] == "forward":
		return j.forward(words[1], words[1])
	case len(words) == 3 && words[0] == "forward":
		return j.forward(words[1], words[2])
	}
	return "`/jobs` lists the commands in the background. After it may follow: `" + jobsForms + "`.\n"
}

func (j *jobs) list() string {
	j.running.RefreshPorts()
	all := j.running.View("").List()
	if len(all) == 0 {
		return "No command was started in the background in this session.\n"
	}
	var b strings.Builder
	now, running := time.Now(), 0
	for _, job := range all {
		state := howEnded(job)
		if job.State == tools.JobRunning {
			running++
			state = "running"
		}
		if job.Agent != "" {
			state += ", of a subagent"
		}
		fmt.Fprintf(&b, "- **%s** %s: %s; %s, %d bytes printed\n", job.ID, kinds.Code(job.Command, jobRunes), state, job.Elapsed(now).Truncate(time.Second), job.Printed)
		for _, port := range job.Ports {
			fmt.Fprintf(&b, "  - %s\n", port)
		}
	}
	head := fmt.Sprintf("**Commands in the background**: %d running, %d ended\n\n", running, len(all)-running)
	if running > 0 {
		b.WriteString("\n`/jobs stop NUMBER` stops one of them, `/jobs stop all` stops all.\n")
	}
	return head + b.String()
}

// forward opens a port of a job on the machine.
func (j *jobs) forward(port, hostPort string) string {
	number, err := portNumber(port, 1)
	if err != nil {
		return err.Error() + ".\n"
	}
	at, err := portNumber(hostPort, 0)
	if err != nil {
		return err.Error() + ".\n"
	}
	job, err := j.running.Forward(number, at)
	if err != nil {
		return forwardFailure(err, number)
	}
	for _, p := range job.Ports {
		if p.Number == number {
			at = p.Open
		}
	}
	return fmt.Sprintf("Port %d of %s is open at 127.0.0.1:%d on this machine, for every user of it, until the job ends or you type `/jobs forward stop %[1]d`.\n", number, job.ID, at)
}

// forwardFailure says why a port is not open, and what the user can type instead.
func forwardFailure(err error, port int) string {
	failure, ok := errors.AsType[*tools.Error](err)
	if !ok {
		return "It is not open: " + err.Error() + ".\n"
	}
	said := "It is not open: " + failure.Message + ".\n"
	if failure.Hint != "" {
		said += fmt.Sprintf("`/jobs forward %d 0` takes a port that is free, `/jobs forward %[1]d HOSTPORT` another.\n", port)
	}
	return said
}

func (j *jobs) closeForward(port string) string {
	number, err := portNumber(port, 1)
	switch {
	case err != nil:
		return err.Error() + ".\n"
	case j.running.CloseForward(number):
		return fmt.Sprintf("Port %d is closed on this machine.\n", number)
	}
	return fmt.Sprintf("Port %d is not open on this machine.\n", number)
}

// portNumber reads a port that the user typed.
func portNumber(text string, least int) (int, error) {
	number, err := strconv.Atoi(text)
	if err != nil || number < least || number > math.MaxUint16 {
		return 0, fmt.Errorf("%s is not a port: it is a number from %d to %d", kinds.Code(text, nameRunes), least, math.MaxUint16)
	}
	return number, nil
}

// stop stops one job, by its number or id, or all of them. The model learns of the end of each.
func (j *jobs) stop(which string) string {
	stopped := 0
	for _, job := range j.running.View("").List() {
		if which != "all" && job.ID != which && job.ID != "job_"+which {
			continue
		}
		if job.State != tools.JobRunning && which != "all" {
			return fmt.Sprintf("%s has ended already.\n", job.ID)
		}
		if j.running.StopCall(job.CallID) {
			stopped++
		}
	}
	switch {
	case stopped > 0:
		return "Stopped " + kinds.Count(stopped, "job") + ".\n"
	case which == "all":
		return "No command is running in the background.\n"
	}
	return fmt.Sprintf("There is no job %s. `/jobs` lists them.\n", kinds.Code(which, nameRunes))
}
