package session

import (
	"fmt"
	"path/filepath"

	"acp-agent/transcript"
)

// sidecarKey is the key under which the digest of a sidecar is stored, before its name.
const sidecarKey = "sidecar "

// sidecars stores the files that hold the rest of long results with the session, because the session's
// own directory, which has them, is removed when it ends (R107).
type sidecars struct {
	opened
	archive *archive
}

// store stores, in the background, the file with the rest of a result.
func (s sidecars) store(path string) {
	name := filepath.Base(path)
	s.life.start(func() {
		if err := s.put(path); err != nil {
			s.host.Logger.Info("the rest of a result is not stored", "session", s.ID, "file", name, "error", err.Error())
		}
	})
}

// maxSidecar bounds a sidecar that is stored, because Close waits until it is.
const maxSidecar = 16 << 20

var errSidecarSize = fmt.Errorf("it is larger than %d MiB", maxSidecar>>20)

func (s sidecars) put(path string) error {
	file, size, err := s.work.OpenSidecar(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if size > maxSidecar {
		return errSidecarSize
	}
	blob, err := s.host.Store.PutBlob(s.ID, file)
	if err != nil {
		return err
	}
	return s.archive.recorder.Put(sidecarKey+filepath.Base(path), blob.Digest)
}

// restore writes the files that results of the stored conversation name to where they were.
func (s sidecars) restore(messages []*transcript.Message) {
	for _, path := range sidecarsOf(messages) {
		if err := s.restoreOne(path); err != nil {
			s.host.Logger.Warn("the rest of a stored result is lost", "session", s.ID, "file", filepath.Base(path), "error", err.Error())
		}
	}
}

func (s sidecars) restoreOne(path string) error {
	var digest string
	if found, err := s.archive.stored().State(sidecarKey+filepath.Base(path), &digest); err != nil || !found {
		return err
	}
	content, err := s.host.Store.OpenBlob(s.ID, digest)
	if err != nil {
		return err
	}
	defer content.Close()
	return s.work.RestoreSidecar(path, content)
}

// sidecarsOf are the files that results name, including the results of subagents.
func sidecarsOf(messages []*transcript.Message) (paths []string) {
	for _, m := range messages {
		for _, call := range m.Calls() {
			if call.Result != nil && call.Result.Metadata.OutputPath != "" {
				paths = append(paths, call.Result.Metadata.OutputPath)
			}
			if call.Child != nil {
				paths = append(paths, sidecarsOf(call.Child.Record().Messages)...)
			}
		}
	}
	return paths
}
