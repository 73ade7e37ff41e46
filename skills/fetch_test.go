package skills_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/skills"
)

func TestDiscover_URLs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		library, warnings := skills.Discover(t.Context(), skills.Options{
			Bundled: fstest.MapFS{"taken/SKILL.md": {Data: []byte(md("taken", "of the host"))}},
			URLs: []string{
				"https://skills.test/slow", "https://skills.test/a/SKILL.md", "http://skills.test/plain", "https://skills.test/taken",
				"https://me:pass@skills.test/fails?token=1", "://", "https://skills.test/b", "file:///etc/passwd",
			},
			Fetch: func(ctx context.Context, url string) ([]byte, error) {
				switch name := url[strings.LastIndex(url, "/")+1:]; name {
				case "slow":
					<-ctx.Done()
					return nil, ctx.Err()
				case "SKILL.md":
					time.Sleep(time.Second) // they wait beside each other
					return []byte(md("a", "first")), nil
				case "b":
					time.Sleep(2500 * time.Millisecond)
					return []byte(md("b", "second")), nil
				case "taken":
					return []byte(md("taken", "of the web")), nil
				default:
					return nil, errors.New("status 404")
				}
			},
		})
		if diff := cmp.Diff([]string{"taken: of the host", "a: first", "b: second"}, index(library)); diff != "" {
			t.Errorf("index (-want +got):\n%s", diff)
		}
		expect(t, "", warnings, [][]string{
			{"https://skills.test/slow", "deadline exceeded"},
			{"http://skills.test/plain", "no https URL"},
			{"https://skills.test/taken", "is that of bundled taken/SKILL.md"},
			{"https://skills.test/fails: status 404"},
			{"cannot be parsed"},
			{"file:///etc/passwd", "no https URL"},
		})
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("it took %v, want the stated limit of 3s", took)
		}
		content, err := library.Load("a")
		if want := "<skill_content name=\"a\">\nBody of a: first.\n</skill_content>"; err != nil || content != want {
			t.Errorf("content = %q, %v; want %q", content, err, want)
		}
	})
}

func TestDiscover_NoFetch(t *testing.T) {
	t.Parallel()
	_, warnings := skills.Discover(t.Context(), skills.Options{URLs: []string{"https://skills.test/a"}})
	expect(t, "", warnings, [][]string{{"https://skills.test/a", "no network"}})
}
