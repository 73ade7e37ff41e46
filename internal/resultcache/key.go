package resultcache

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Key names a call: the tool's canonical id, its arguments as canonical JSON,
// and what else the result depends on that is not a file, in a fixed order: root,
// session, mode (R130).
func Key(tool string, args []byte, env ...string) string {
	h := sha256.New()
	// Every field goes in with its length, so that no two lists look the same.
	field := func(b []byte) {
		h.Write(binary.AppendUvarint(nil, uint64(len(b))))
		h.Write(b)
	}
	field([]byte(tool))
	field(args)
	for _, e := range env {
		field([]byte(e))
	}
	return hex.EncodeToString(h.Sum(nil))
}
