package skills

import (
	"context"
	"errors"
	"net/url"
	"sync"
)

// maxURLs bounds how many are fetched at once.
const maxURLs = 32

// fetched is what a URL gave.
type fetched struct {
	origin string
	data   []byte
	err    error
}

// startFetch begins to fetch all URLs and returns what waits for them. Each URL
// has a goroutine, which ends when Fetch returns, at the latest when its context
// does.
func (o Options) startFetch(ctx context.Context) (wait func() []fetched) {
	results := make([]fetched, len(o.URLs))
	var running sync.WaitGroup
	for i, address := range o.URLs {
		parsed, err := url.Parse(address)
		if err != nil {
			results[i] = fetched{origin: "a configured URL", err: errors.New("cannot be parsed")}
			continue
		}
		results[i].origin = shown(parsed)
		switch {
		case parsed.Scheme != "https" || parsed.Host == "":
			results[i].err = errors.New("is no https URL")
		case o.Fetch == nil:
			results[i].err = errors.New("is not fetched: there is no network here")
		case i >= maxURLs:
			results[i].err = errors.New("is not fetched: there are too many URLs")
		default:
			running.Go(func() { results[i].data, results[i].err = o.Fetch(ctx, address) })
		}
	}
	return func() []fetched {
		running.Wait()
		return results
	}
}

// shown is a URL as it may stand in messages: without what may be a secret.
func shown(u *url.URL) string {
	public := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return public.String()
}

// fetched adds the skill that came from a URL.
func (s *scan) fetched(f fetched) {
	if f.err != nil {
		s.warn.add(f.origin, "%v", f.err)
		return
	}
	data := f.data[:min(len(f.data), maxBody+1)]
	s.add(data[:min(len(data), maxFrontMatter)], "", &skill{
		origin: f.origin, real: f.origin, read: func() ([]byte, error) { return data, nil },
	})
}
