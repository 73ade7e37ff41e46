package builtin_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/tooltest"
	"acp-agent/transcript"
)

func TestViewImage(t *testing.T) {
	t.Parallel()
	for media, content := range map[string]string{
		"image/png": "\x89PNG\r\n\x1a\nrest", "image/jpeg": "\xff\xd8\xffrest", "image/gif": "GIF89arest",
	} {
		t.Run(media, func(t *testing.T) {
			t.Parallel()
			// The name says nothing: the first bytes do (R28).
			rt := tooltest.New(tooltest.Options{Files: map[string]string{"picture.txt": content}})
			result := run(t, rt, "view_image", map[string]any{"path": "picture.txt"})
			encoded := base64.StdEncoding.EncodeToString([]byte(content))
			if diff := cmp.Diff([]transcript.ImagePart{{MediaType: media, Data: encoded}}, result.Images); diff != "" {
				t.Errorf("images (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]kinds.Content{kinds.Image{MediaType: media, Data: encoded}}, result.Content); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]any{"type": "image", "media_type": media, "data": encoded}, data(t, result)); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
		})
	}
}

func TestViewImage_Refused(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, content, mention string }{
		{"text.png", "hello\n", "/test-workspace/text.png is a text file"},
		{"empty.png", "", "an empty file"},
		{"x.webp", "RIFF\x00\x00\x00\x00WEBPVP8 ", "a WebP image"},
		{"x.svg", "<svg xmlns=\"x\"/>", "an SVG image"},
		{"x.pdf", "%PDF-1.7\n", "a PDF document"},
		{"x.bin", "\x00\x01\x02", "a binary file"},
		{"dir/x", "x", ""},
		{".env", "GIF89a", "Refusing to read env file"},
		{"large.png", "\x89PNG\r\n\x1a\n" + strings.Repeat("x", builtin.MaxImageBytes), "too large to show"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{Files: map[string]string{tt.name: tt.content}})
			path, mention := tt.name, tt.mention
			if mention == "" {
				path, mention = "dir", "/test-workspace/dir is a directory"
			}
			failure := fail(t, rt, "view_image", map[string]any{"path": path})
			if failure.Kind != tools.BadInput || !strings.Contains(failure.Error(), mention) {
				t.Errorf("error = %v, want one with %q", failure, mention)
			}
		})
	}
	failure := fail(t, tooltest.New(tooltest.Options{}), "view_image", map[string]any{"path": "none.png"})
	if failure.Message != "ENOENT: no such file or directory '/test-workspace/none.png'" {
		t.Errorf("missing file: %v", failure)
	}
}
