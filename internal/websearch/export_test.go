package websearch

// Plain is a snippet as it is shown.
func Plain(text string) string { return plain(text, maxSnippet) }

// Collect is what is kept of pages at some addresses.
func Collect(limit int, addresses ...string) []Result {
	var c collector
	for _, address := range addresses {
		c.add("title", address, "snippet")
	}
	return c.best(limit)
}

// CollectOne is what is kept of one result.
func CollectOne(title, address, snippet string) []Result {
	var c collector
	c.add(title, address, snippet)
	return c.best(1)
}
