package textcalls

// Parse is parse for a whole text.
func Parse(text string) (before string, calls []Call, ok bool) { return parse(text, "") }
