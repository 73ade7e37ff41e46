package record

import (
	"encoding/json"
	"testing"
)

func TestJoiner_Chunks(t *testing.T) {
	var got []Entry
	j := newJoiner(Options{Clean: func(s string) string { return s }, Begins: func(string) bool { return false }}, func(e Entry) error {
		got = append(got, e)
		_, err := encode(e)
		return err
	})
	for _, data := range []string{
		`{"Kind":1,"Text":"Hm, let me","Title":"","Replay":null,"Origin":"","Index":0,"ID":"","Name":"","Arguments":"","Usage":null,"Reason":"","Model":""}`,
		`{"Kind":2,"Text":"","Index":0,"ID":"call_1_0","Name":"read","Arguments":"{\"path\":\"a b c d e f g h\"}","Usage":null}`,
		`{"Kind":3,"Text":"","Usage":{"input":1,"output":2}}`,
	} {
		if err := j.add(pending{Entry: Entry{Kind: Chunk, Of: 1, Data: json.RawMessage(data)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.settle(true); err != nil {
		t.Fatal(err)
	}
	for _, e := range got {
		t.Logf("%s", e.Data)
	}
}
