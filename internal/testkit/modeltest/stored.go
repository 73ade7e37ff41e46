package modeltest

import "acp-agent/transcript"

// Stored returns messages as they are read again after they were stored. Tests of generated
// cases have a t of their own.
func Stored(t interface {
	Helper()
	Fatal(...any)
}, messages []*transcript.Message,
) []*transcript.Message {
	t.Helper()
	var read []*transcript.Message
	for _, m := range messages {
		data, err := transcript.EncodeMessage(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := transcript.DecodeMessage(data)
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, again)
	}
	return read
}
