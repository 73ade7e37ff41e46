package session

import (
	"fmt"
	"path/filepath"

	"acp-agent/transcript"
)

// sidecarKey is the key under which the digest of a sidecar is stored, before its name.
const sidecarKey = "sidecar "

// keepSidecar stores, in the background, the file with the rest of a result, which otherwise ends
// with the session's directory (R107).
func (s *Session) keepSidecar(path string) {
	name := filepath.Base(path)
	s.life.start(func() {
		if err := s.storeSidecar(path); err != nil {
			s.host.Logger.Info("the rest of a result is not stored", "session", s.ID, "file", name, "error", err.Error())
		}
	})
}

// maxSidecar bounds a sidecar that is stored, so that the end of a session does not wait for it.
const maxSidecar = 16 << 20

var errSidecarSize = fmt.Errorf("it is larger than %d MiB", maxSidecar>>20)

func (s *Session) storeSidecar(path string) error {
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
	return s.conversation.recorder.Put(sidecarKey+filepath.Base(path), blob.Digest)
}

// restoreSidecars puts the files that results of the stored conversation name where they were.
func (s *Session) restoreSidecars(messages []*transcript.Message) {
	for _, path := range sidecarsOf(messages) {
		if err := s.restoreSidecar(path); err != nil {
			s.host.Logger.Warn("the rest of a stored result is lost", "session", s.ID, "file", filepath.Base(path), "error", err.Error())
		}
	}
}

func (s *Session) restoreSidecar(path string) error {
	var digest string
	if found, err := s.conversation.recorder.Stored().State(sidecarKey+filepath.Base(path), &digest); err != nil || !found {
		return err
	}
	content, err := s.host.Store.OpenBlob(s.ID, digest)
	if err != nil {
		return err
	}
	defer content.Close()
	return s.work.RestoreSidecar(path, content)
}

// sidecarsOf are the files that results name, those of subagents too.
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
