package replay

// class is what commute has to know of a frame.
type class struct {
	kind  string // text, tool, state, request, response or other
	about string // the id of the call or request that the frame is about, or the kind of the text or state
}

// commute reports whether two frames of a session may come in either order: they belong to calls that run
// concurrently, only one of them is from a subagent, one of them is of a question about a host, which comes at any
// time of a turn but not after its answer, or one of them is unordered.
func commute(a, b *frame) bool {
	switch {
	case a.unordered || b.unordered:
		return a.class != b.class
	case a.caller == hostQuestions || b.caller == hostQuestions:
		return a.about != b.about && a.kind != "response" && b.kind != "response"
	case (a.caller == "") != (b.caller == ""):
		return true
	case a.kind == "response" && b.kind == "response":
		return a.about != b.about
	case a.ofCall() && b.ofCall():
		return a.about != b.about
	case a.kind == "text" && b.kind == "tool":
		return !b.opensCall
	case b.kind == "text" && a.kind == "tool":
		return !a.opensCall
	}
	return false
}
