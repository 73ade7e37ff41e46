package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"acp-agent/export"
	"acp-agent/internal/fileuri"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

const exportForms = "[--redact] [--all] [json|markdown|html] [file]"

// exportCommand is /export: it writes the conversation to a new file in the session's directory.
func exportCommand(ctx context.Context, s opened, c *conversation, rest string) string {
	redact, all, rest := exportOptions(rest)
	format, name, err := exportTarget(rest)
	if err != nil {
		return kinds.Visible(err.Error()) + ". Type `/export " + exportForms + "`.\n"
	}
	o := export.Options{}
	if redact {
		o.Redact = &export.Redaction{}
		if s.host.Redaction != nil {
			o.Redact = s.host.Redaction()
		}
	}
	var text strings.Builder
	if err := export.Write(ctx, &text, format, exported(s, c, all), o); err != nil {
		return "The conversation was not written: " + kinds.Visible(err.Error()) + ".\n"
	}
	path, err := writeExport(ctx, s, name, format, text.String())
	if err != nil {
		return "The conversation was not written: " + kinds.Visible(err.Error()) + ".\n"
	}
	return fmt.Sprintf("The conversation is written to [%s](%s).\n", strings.Trim(code(filepath.Base(path)), "`"), fileuri.Of(path))
}

// exportOptions parses the options after /export: --redact removes what should not be shared, --all
// also writes what an undo has taken back.
func exportOptions(text string) (redact, all bool, rest string) {
	for rest = strings.TrimSpace(text); ; {
		first, after, _ := strings.Cut(rest, " ")
		switch first {
		case "--redact":
			redact = true
		case "--all":
			all = true
		default:
			return redact, all, rest
		}
		rest = strings.TrimSpace(after)
	}
}

// exportTarget parses what follows the options: a format, a file, or both. Without a format the
// extension of the file decides; name is "" when only a format is given.
func exportTarget(rest string) (format export.Format, name string, err error) {
	first, after, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if format, err = export.ParseFormat(first); err == nil && !strings.HasPrefix(first, ".") {
		return format, strings.TrimSpace(after), nil
	}
	if name = strings.TrimSpace(rest); name == "" {
		return export.Markdown, "", nil
	}
	if format, err = export.ParseFormat(filepath.Ext(name)); err != nil {
		return "", "", fmt.Errorf("the name %s does not say which form is wanted", name)
	}
	return format, name, nil
}

// exported is the conversation without the /export command and, unless all is set, without what was
// taken back.
func exported(s opened, conversation *conversation, all bool) export.Conversation {
	log := conversation.log
	var messages []*transcript.Message
	end := 0
	for _, m := range log.Record() {
		if hidden, _ := log.IsHidden(m.ID); hidden && !all {
			continue
		}
		if messages = append(messages, m); m.Role == transcript.User {
			end = len(messages) - 1 // the last prompt is the command
		}
	}
	info := conversation.archive.info()
	info.ID, info.Cwd = s.ID, s.spec.Cwd
	c := export.Conversation{
		Info: info, Plan: log.Memory().Plan, Messages: export.Collect(messages[:end]), Decisions: map[string]export.Decision{},
		Price: s.settings.Subagents.Price,
	}
	if dir := s.settings.Audit.Dir; dir != "" {
		export.ReadDecisions(dir, s.ID, c.Decisions)
	}
	return c
}

// maxExportNames bounds the search for a name that is free.
const maxExportNames = 100

// writeExport writes a new file and returns its path. Without a name it chooses one that is free.
func writeExport(ctx context.Context, s opened, name string, format export.Format, text string) (path string, err error) {
	call := s.work.Call(s.host.IDs.New(transcript.CallPrefix), "export", nil)
	defer call.Finish()
	if name != "" {
		path = call.Session().Abs(name)
		return path, createText(ctx, call.FS(), path, text)
	}
	for n := 1; n <= maxExportNames; n++ {
		name = "conversation" + format.Extension()
		if n > 1 {
			name = fmt.Sprintf("conversation-%d%s", n, format.Extension())
		}
		path = call.Session().Abs(name)
		if err = createText(ctx, call.FS(), path, text); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return path, err
}

// createText writes a file that is not there yet.
func createText(ctx context.Context, files tools.FS, path, text string) error {
	unlock, err := files.Lock(ctx, path)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = files.Stat(ctx, path)
	if err == nil {
		return fmt.Errorf("%s is there already: %w", path, fs.ErrExist)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return files.WriteText(ctx, path, text, &tools.Text{})
}
