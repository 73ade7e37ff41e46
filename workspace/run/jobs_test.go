package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
)

// jobFile is a sidecar in memory with room for so many bytes.
type jobFile struct {
	strings.Builder
	room    int
	dropped int64
	closed  bool
}

func (f *jobFile) Write(p []byte) (int, error) {
	n := min(len(p), f.room)
	f.room -= n
	f.dropped += int64(len(p) - n)
	f.Builder.Write(p[:n])
	return len(p), nil
}
func (f *jobFile) Path() string   { return "/private/job" }
func (f *jobFile) Dropped() int64 { return f.dropped }
func (f *jobFile) Close() error   { f.closed = true; return nil }

// told is what the hooks of jobs were told.
type told struct {
	mu    sync.Mutex
	lines []string
}

func (t *told) add(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, fmt.Sprintf(format, args...))
}

func (t *told) hooks() JobHooks {
	return JobHooks{
		Started: func(j tools.Job) { t.add("%s started", j.ID) },
		Printed: func(j tools.Job, text string) { t.add("%s printed %q", j.ID, text) },
		Ended:   func(j tools.Job) { t.add("%s %s", j.ID, j.State) },
	}
}

// testJobs are jobs with room for two, whose memory is that of the session.
func testJobs(hooks JobHooks, file *jobFile) *Jobs {
	limits := tools.CanonicalLimits()
	limits.Jobs = 2
	return newJobs(hooks, limits, func() (tools.Sidecar, error) {
		if file == nil {
			return nil, errors.New("no room")
		}
		return file, nil
	})
}

// prints is a job that prints pieces, one each second, and then ends with an exit, or only with
// ctx.
func prints(exit *tools.Exit, pieces ...string) work {
	return func(ctx context.Context, started func(jobNetwork), output io.Writer) (tools.Exit, error) {
		started(jobNetwork{})
		for _, piece := range pieces {
			select {
			case <-time.After(time.Second):
				_, _ = io.WriteString(output, piece)
			case <-ctx.Done():
				return tools.Exit{}, context.Cause(ctx)
			}
		}
		if exit != nil {
			return *exit, nil
		}
		<-ctx.Done()
		return tools.Exit{}, context.Cause(ctx)
	}
}

func start(t *testing.T, js *Jobs, do work) tools.Job {
	t.Helper()
	job, err := js.start(t.Context(), tools.Job{Command: "serve", CallID: "call_1"}, time.Hour, do)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func TestJobs_ReadAndEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var heard told
		js := testJobs(heard.hooks(), nil)
		job := start(t, js, prints(&tools.Exit{Code: 3}, "ready é"[:7], "é"[1:]+"\n", "bye\n"))
		view := js.View("")
		out, err := view.Read(t.Context(), job.ID, tools.JobWait{})
		if err != nil || out.Text != "" || out.State != tools.JobRunning {
			t.Errorf("at first: %+v, %v", out, err)
		}
		out, _ = view.Read(t.Context(), job.ID, tools.JobWait{Quiet: 100 * time.Millisecond, Limit: time.Minute})
		if out.Text != "ready " {
			t.Errorf("the first output is %q", out.Text)
		}
		out, _ = view.Read(t.Context(), job.ID, tools.JobWait{Pattern: regexp.MustCompile("^bye$"), Limit: time.Minute})
		if out.Text != "é\nbye\n" || !out.Matched {
			t.Errorf("until bye: %+v", out)
		}
		synctest.Wait()
		out, _ = view.Read(t.Context(), job.ID, tools.JobWait{Limit: time.Minute})
		if out.State != tools.JobExited || out.Exit.Code != 3 || out.Text != "" || out.Printed != 13 {
			t.Errorf("at the end: %+v", out)
		}
		want := []string{"job_1 started", `job_1 printed "ready "`, `job_1 printed "é\n"`, `job_1 printed "bye\n"`, "job_1 exited"}
		if diff := cmp.Diff(want, heard.lines); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		if !js.EndReported(job.ID) {
			t.Error("its end was read, and is not told")
		}
	})
}

func TestJobs_WaitEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		js := testJobs(JobHooks{}, nil)
		job := start(t, js, prints(nil, "a\n", "a\n", "a\n", "a\n", "a\n"))
		began := time.Now()
		out, _ := js.View("").Read(t.Context(), job.ID, tools.JobWait{Pattern: regexp.MustCompile("b"), Limit: 3500 * time.Millisecond})
		if out.Matched || out.Text != "a\na\na\n" || time.Since(began) != 3500*time.Millisecond {
			t.Errorf("after the limit: %+v in %v", out, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		if _, err := js.View("").Read(ctx, job.ID, tools.JobWait{Limit: time.Hour}); err != nil || time.Since(began) > 1100*time.Millisecond {
			t.Errorf("a cancelled read took %v, %v", time.Since(began), err)
		}
		js.Close()
		js.wait()
	})
}

func TestJobs_EndedByOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var heard told
		js := testJobs(heard.hooks(), nil)
		stopped := start(t, js, prints(nil))
		job, err := js.View("").Stop(t.Context(), stopped.ID)
		if err != nil || job.State != tools.JobStopped || !js.EndReported(job.ID) {
			t.Errorf("stopped: %+v, %v", job, err)
		}
		if again, err := js.View("").Stop(t.Context(), stopped.ID); err != nil || again.State != tools.JobStopped {
			t.Errorf("stopped again: %+v, %v", again, err)
		}
		start(t, js, prints(nil))
		time.Sleep(time.Hour)
		synctest.Wait()
		failing := start(t, js, func(_ context.Context, started func(jobNetwork), _ io.Writer) (tools.Exit, error) {
			started(jobNetwork{})
			return tools.Exit{}, errors.New("the helper is gone")
		})
		synctest.Wait()
		out, _ := js.View("").Read(t.Context(), failing.ID, tools.JobWait{})
		if out.State != tools.JobFailed || len(out.Exit.Notes) != 1 {
			t.Errorf("failed: %+v", out)
		}
		want := []string{"job_1 started", "job_1 stopped", "job_2 started", "job_2 expired", "job_3 started", "job_3 failed"}
		if diff := cmp.Diff(want, heard.lines); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

func TestJobs_NotStarted(t *testing.T) {
	t.Parallel()
	var heard told
	js := testJobs(heard.hooks(), nil)
	refused := errors.New("no such shell")
	_, err := js.start(t.Context(), tools.Job{}, time.Hour, func(context.Context, func(jobNetwork), io.Writer) (tools.Exit, error) { return tools.Exit{}, refused })
	if !errors.Is(err, refused) || len(js.View("").List()) != 0 || len(heard.lines) != 0 {
		t.Errorf("%v; listed %v; told %q", err, js.View("").List(), heard.lines)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = js.start(ctx, tools.Job{}, time.Hour, func(ctx context.Context, _ func(jobNetwork), _ io.Writer) (tools.Exit, error) {
		<-ctx.Done()
		return tools.Exit{}, context.Cause(ctx)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled start: %v", err)
	}
}

func TestJobs_Limits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		js := testJobs(JobHooks{}, nil)
		start(t, js, prints(nil))
		second := start(t, js, prints(nil))
		if _, err := js.start(t.Context(), tools.Job{}, time.Hour, prints(nil)); err == nil || !strings.Contains(err.Error(), "2 jobs run in the background, and no more may") {
			t.Errorf("a third job: %v", err)
		}
		_, _ = js.View("").Stop(t.Context(), second.ID)
		for range endedJobs + 20 {
			job := start(t, js, prints(&tools.Exit{}))
			_, _ = js.View("").Read(t.Context(), job.ID, tools.JobWait{Limit: time.Hour})
		}
		list := js.View("").List()
		if len(list) > endedJobs+2 || list[0].ID != "job_1" {
			t.Errorf("%d jobs are kept, the first is %s", len(list), list[0].ID)
		}
		js.Close()
		js.wait()
		if _, err := js.start(t.Context(), tools.Job{}, time.Hour, prints(nil)); err == nil {
			t.Error("a job started after the end")
		}
	})
}

// TestJobs_Agents: a subagent sees its own jobs, which end with it.
func TestJobs_Agents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		js := testJobs(JobHooks{}, nil)
		main := start(t, js, prints(nil))
		own, err := js.start(t.Context(), tools.Job{CallID: "call_2", Agent: "ses_child"}, time.Hour, prints(nil))
		if err != nil {
			t.Fatal(err)
		}
		child := js.View("ses_child")
		if list := child.List(); len(list) != 1 || list[0].ID != own.ID {
			t.Errorf("the subagent sees %+v", list)
		}
		if _, err := child.Stop(t.Context(), main.ID); err == nil {
			t.Error("the subagent stops a job of the main agent")
		}
		if _, err := child.Read(t.Context(), main.ID, tools.JobWait{}); err == nil {
			t.Error("the subagent reads a job of the main agent")
		}
		js.StopAgent("ses_child")
		synctest.Wait()
		if ended := js.ReportEnded("ses_child"); len(ended) != 1 || ended[0].State != tools.JobStopped || len(js.ReportEnded("ses_child")) != 0 {
			t.Errorf("ended %+v", ended)
		}
		if js.StopCall("call_2") || !js.StopCall("call_1") {
			t.Error("of the calls, not the one whose job runs is stopped")
		}
		js.Close()
		js.wait()
	})
}

// TestJobOutput_Bounds: of 64 MiB the end is in memory, and the beginning in a file.
func TestJobOutput_Bounds(t *testing.T) {
	t.Parallel()
	const piece, pieces = 32 << 10, 1 << 11
	text := []byte(strings.Repeat("0123456789abcde\n", piece/16))
	file := &jobFile{room: 1 << 30}
	o := &jobOutput{memoryLimit: jobMemory, fileLimit: 1 << 20, open: func() (tools.Sidecar, error) { return file, nil }}
	most := 0
	for range pieces {
		_, _ = o.Write(text)
		most = max(most, cap(o.end))
	}
	if most > 4*jobMemory {
		t.Errorf("%d bytes of memory", most)
	}
	out := o.readNew()
	if out.Kept != 1<<20 || file.Len() != 1<<20 || out.File != file.Path() {
		t.Errorf("the file %q holds %d, says %d", out.File, file.Len(), out.Kept)
	}
	if got := out.Skipped + int64(len(out.Text)); got != piece*pieces || len(out.Text) < jobMemory {
		t.Errorf("skipped and read are %d, read %d", got, len(out.Text))
	}
	o.close()
	if !file.closed {
		t.Error("the file is open")
	}
}

// TestJobOutput_Quota: what the session's quota refuses is not counted as kept, and nothing
// follows it.
func TestJobOutput_Quota(t *testing.T) {
	t.Parallel()
	file := &jobFile{room: 100}
	o := &jobOutput{memoryLimit: 64, fileLimit: 1 << 20, open: func() (tools.Sidecar, error) { return file, nil }}
	for range 10 {
		_, _ = o.Write([]byte(strings.Repeat("x", 40)))
	}
	if out := o.readNew(); out.Kept != 100 || file.Len() != 100 {
		t.Errorf("kept %d of %d", out.Kept, file.Len())
	}
	none := &jobOutput{memoryLimit: 64, fileLimit: 1 << 20, open: func() (tools.Sidecar, error) { return nil, errors.New("full") }}
	for range 4000 {
		_, _ = none.Write([]byte(strings.Repeat("é", 20)))
	}
	if out := none.readNew(); out.File != "" || out.Skipped == 0 || !strings.HasPrefix(out.Text, "é") {
		t.Errorf("without a file: %q, skipped %d", out.File, out.Skipped)
	}
}
