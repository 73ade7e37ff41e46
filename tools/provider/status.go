package provider

import (
	"net/url"
	"path/filepath"
)

// State is how a provider stands.
type State string

// The states.
const (
	Waiting  State = "not started yet"
	Starting State = "starting"
	Ready    State = "ready"
	Failed   State = "failed"
	// Ended is a program that has ended by itself; the next call starts it again.
	Ended State = "ended"
)

// Status is how one provider stands.
type Status struct {
	Name, Type string
	// Place is the name of its program, or its address without path and keys; may be empty.
	Place string
	State State
	// Tools are the ids of its tools, which it may have while it is away.
	Tools []string
	// Problems are its last failure and what is wrong with its tools.
	Problems []string
}

// Status says how the providers stand, in the order of the configuration. Entries that are
// none stand first.
func (s *Service) Status() []Status {
	s.mu.Lock()
	list, began := append([]Status(nil), s.none...), !s.start.IsZero()
	s.mu.Unlock()
	for _, p := range s.all {
		list = append(list, p.status(began))
	}
	return list
}

func (p *provider) status(began bool) Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	link, started := p.child.Current()
	status := Status{Name: p.Name, Type: p.Type, Place: p.place(), State: Ready}
	switch {
	case !began && !started:
		status.State = Waiting
	case p.failed != nil:
		status.State = Failed
		status.Problems = append(status.Problems, p.failed.Error())
	case !started:
		status.State = Starting
	case link.Err() != nil:
		status.State = Ended
		status.Problems = append(status.Problems, link.Err().Error())
	}
	for _, tool := range p.tools {
		status.Tools = append(status.Tools, tool.ID)
	}
	for _, err := range p.refused {
		status.Problems = append(status.Problems, err.Error())
	}
	return status
}

// place is where the provider is, for the user to recognise it.
func (c Config) place() string {
	if c.Type == Stdio {
		return filepath.Base(c.Command)
	}
	if u, err := url.Parse(c.URL); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host
	}
	return ""
}
