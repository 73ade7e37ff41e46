package textcut

// Head keeps the beginning of what is written to it. It is used by one goroutine at a time. The
// zero value keeps nothing.
type Head struct {
	limit int
	text  []byte
	cut   bool
}

// NewHead returns a Head that keeps at most limit bytes.
func NewHead(limit int) *Head { return &Head{limit: limit} }

// Write implements io.Writer. It takes everything, so that a program that writes more ends by itself.
func (h *Head) Write(text []byte) (int, error) {
	kept := max(0, min(len(text), h.limit-len(h.text)))
	h.text, h.cut = append(h.text, text[:kept]...), h.cut || kept < len(text)
	return len(text), nil
}

// Bytes returns what is kept.
func (h *Head) Bytes() []byte { return h.text }

// Cut reports whether more was written than is kept.
func (h *Head) Cut() bool { return h.cut }
