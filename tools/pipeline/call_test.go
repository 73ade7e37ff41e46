package pipeline_test

import (
	"testing"

	"acp-agent/kinds"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// The envelope of an end without a tool has the type that its state says, as that of every call.
func TestUnrun(t *testing.T) {
	t.Parallel()
	for state, want := range map[transcript.State]string{
		transcript.Done: transcript.Output, transcript.Failed: transcript.Error,
		transcript.Rejected: transcript.Error, transcript.Cancelled: transcript.Error,
	} {
		end := pipeline.Unrun("call_1", kinds.Neutral("network"), state, "the end")
		if failed := end.Result.Error != nil; end.Result.Type != want || failed != (want == transcript.Error) || end.Text != "the end" {
			t.Errorf("%s: %+v", state, end)
		}
	}
}
