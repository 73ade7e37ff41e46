package termpicture

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDraw(t *testing.T) {
	output := "\x1b[1mbold\x1b[0m & plain\n\n\x1b[32m+ <added>\x1b[0m\tafter\n" + strings.Repeat("é", 12) + "\n"
	svg := Draw(output, Options{Title: `a "title"`, Still: "added", Columns: 10, Rows: 3})
	want := []string{"bold & pl…", "", "+ <added>…", strings.Repeat("é", 9) + "…"}
	if diff := cmp.Diff(want, Lines(svg)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if !strings.Contains(svg, "#lines { transform: translateY(0px) }") {
		t.Error("the line of Still does not stand at the bottom of a picture that does not move")
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not XML: %v", err)
		}
	}
}
