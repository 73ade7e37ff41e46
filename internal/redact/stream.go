package redact

// Stream takes values out of a text that arrives in pieces. What may be the beginning
// of a value is held back until more is known.
type Stream struct {
	Values *Values
	// Addresses says that the addresses of remotes are cleaned too, see [Addresses].
	Addresses bool
	held      string
}

// Next takes a piece and returns what can be shown.
func (s *Stream) Next(piece string) string {
	text := s.Values.Known(s.held + piece)
	keep := s.Values.pending(text)
	if !s.Addresses {
		s.held = text[len(text)-keep:]
		return text[:len(text)-keep]
	}
	keep = max(keep, pendingAddress(text))
	s.held = text[len(text)-keep:]
	return Addresses(text[:len(text)-keep])
}

// Rest returns what was held back, at the end.
func (s *Stream) Rest() string {
	rest := s.held
	s.held = ""
	if s.Addresses {
		rest = Addresses(rest)
	}
	return rest
}

// idle reports that the next piece is shown as it is.
func (s *Stream) idle() bool { return s.held == "" && !s.Addresses && s.Values.Empty() }
