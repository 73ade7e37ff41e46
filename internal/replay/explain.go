package replay

import (
	"bytes"
	"encoding/json"
	"fmt"

	"acp-agent/internal/record"
)

// Explain describes a difference for the user: its place, and both sides around it.
func Explain(r *record.Recording, d *record.Difference) string {
	var b bytes.Buffer
	at := min(d.Entry, len(r.Entries)-1)
	frame := 0
	for _, e := range r.Entries[:at+1] {
		if e.Kind == record.Out {
			frame++
		}
	}
	fmt.Fprintf(&b, "Difference at frame %d, line %d of the recording, %.3f s after its start: %s\n",
		frame, at+2, float64(r.Entries[at].MS)/1000, d.What)
	if d.Path != "" {
		fmt.Fprintf(&b, "  at        %s\n", d.Path)
	}
	want, got := around(d.Want, d.Got)
	fmt.Fprintf(&b, "  recorded  %s\n", want)
	fmt.Fprintf(&b, "  now       %s\n", got)
	return b.String()
}

const (
	shownBefore = 40
	shownAfter  = 160
)

// around cuts two texts to the place where they differ.
func around(a, b string) (string, string) {
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	from := max(0, same-shownBefore)
	return excerpt(a, from, same), excerpt(b, from, same)
}

func excerpt(text string, from, same int) string {
	to := min(len(text), same+shownAfter)
	cut := string(bytes.ToValidUTF8([]byte(text[from:to]), []byte("�")))
	if from > 0 {
		cut = "…" + cut
	}
	if to < len(text) {
		cut += "…"
	}
	if cut == "" {
		return "nothing"
	}
	quoted, err := json.Marshal(cut)
	if err != nil {
		return cut
	}
	return string(quoted[1 : len(quoted)-1])
}
