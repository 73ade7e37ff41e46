package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"acp-agent/acp"
	"acp-agent/config"
	"acp-agent/internal/record"
	"acp-agent/internal/redact"
	"acp-agent/internal/replay"
	"acp-agent/kinds"
)

func newReplay() *cobra.Command {
	return &cobra.Command{
		Use:   "replay FILE",
		Short: "Run a recording of --record again, and show the first difference",
		Long: `Run a recording that acp-agent --record FILE made again, in this version of the
agent: what came from the editor, the model, tools, the clock and all else comes
from the recording. No model is asked, no program is started, nothing of yours is
read or written.

What the agent sends is compared with what was recorded. The first difference is
shown: its frame, when it was, where in the message, and both sides.

Exit code: 0 no difference; 1 there is one; 2 the file is not a recording that this
version can read.`,
		Example: `  acp-agent --record bug.jsonl      in the place of acp-agent, in the editor's settings
  acp-agent replay bug.jsonl`,
		Args: oneRecording,
		RunE: func(cmd *cobra.Command, args []string) error {
			return replayFile(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
}

func oneRecording(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return &exitError{exitUsage, errors.New("name one recording: acp-agent replay FILE")}
	}
	return nil
}

func replayFile(ctx context.Context, path string, stdout, stderr io.Writer) error {
	file, err := os.Open(path)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	recording, err := record.Read(file)
	_ = file.Close() // only ever read
	if err != nil {
		return &exitError{exitUsage, fmt.Errorf("%s: %w", path, err)}
	}
	dir, err := os.MkdirTemp("", "acp-agent-replay-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	result, err := play(ctx, recording, dir, stderr)
	if result.Running {
		_, _ = fmt.Fprintln(stderr, "acp-agent: the agent did not end with the replay, and was left alone")
	}
	switch {
	case err != nil:
		return &exitError{exitCancelled, nil} // the user ended it
	case result.Difference != nil:
		_, _ = fmt.Fprint(stdout, kinds.Visible(replay.Explain(recording, result.Difference)))
		return &exitError{exitFailed, nil}
	}
	if recording.Torn {
		_, _ = fmt.Fprintln(stdout, "The last line is not complete; all before it was played.")
	}
	_, err = fmt.Fprintf(stdout, "%d frames, no difference\n", result.Frames)
	return err
}

// play runs the agent with a recording. All that it writes is below dir.
func play(ctx context.Context, recording *record.Recording, dir string, stderr io.Writer) (replay.Result, error) {
	player := record.NewPlayer(recording)
	c, err := newReplayCore(recording, player, dir, stderr)
	if err != nil {
		return replay.Result{}, err
	}
	result, err := replay.Run(ctx, player, func(ctx context.Context, in io.Reader, out io.Writer, onLine func(string, []byte)) error {
		return acp.Serve(ctx, in, out, acp.Options{
			Core: c, Version: recording.Agent, Login: c.login(), OnLine: onLine, Logger: c.logger.Logger,
		})
	})
	if !result.Running {
		c.Close() // else it might wait for ever
	}
	return result, err
}

// newReplayCore returns an agent that has everything from a recording.
func newReplayCore(recording *record.Recording, player *record.Player, dir string, stderr io.Writer) (*core, error) {
	c := &core{
		getenv: func(string) string { return "" }, logger: newLogger(stderr), tape: record.PlayFrom(player),
		stateDir: filepath.Join(dir, "state"), dataDir: filepath.Join(dir, "data"), cacheDir: filepath.Join(dir, "cache"),
		stage: filepath.Join(dir, "stage"),
	}
	c.sources = config.Sources{
		Getenv: c.getenv, ConfigDir: recording.Config, HomeDir: recording.Home, LoginFile: recording.Login,
	}
	for _, made := range []string{c.stateDir, c.dataDir, c.stage} {
		if err := os.MkdirAll(made, 0o700); err != nil {
			return nil, err
		}
	}
	clean := func(text string) string { return c.keys.Text(c.logger.values.Text(text)) }
	player.AsRecorded = func(text []byte) []byte {
		if recording.State != "" {
			text = bytes.ReplaceAll(text, []byte(c.stateDir), []byte(recording.State))
		}
		return redact.JSON(text, clean)
	}
	c.assemble = sync.OnceValues(c.newHost)
	return c, nil
}
