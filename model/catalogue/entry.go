package catalogue

// Entry is what the catalogue holds of one model. A zero field is unknown.
type Entry struct {
	// ID is the model's id at its provider, Name the one for users.
	ID, Name string
	// Window is the context window, Output the most tokens of one answer.
	Window, Output int
	// Listed says that the table has the model at this provider, so that Images and
	// Reasons are known either way; otherwise only what is true is.
	Listed bool
	// Images says that the model takes images, Reasons that it thinks.
	Images, Reasons bool
	// Levels are the thought levels, weakest first.
	Levels []Level
	// Prices are what tokens cost, by the size of the input, smallest first; empty
	// when that is not known.
	Prices []Price
}

// Level is a thought level: its name for the user, and what its provider calls it.
type Level struct{ Name, Value string }

// The names of the levels that switch thinking.
const (
	Off = "off"
	On  = "on"
)

// Price is what a million tokens cost in US dollars, for requests whose whole input is
// larger than Above. A cache price of 0 is that of input.
type Price struct {
	Above                                int
	Input, Output, CacheRead, CacheWrite float64
}

// LevelNames are the names of the levels.
func (e Entry) LevelNames() []string {
	var names []string
	for _, level := range e.Levels {
		names = append(names, level.Name)
	}
	return names
}

// PriceOf returns the price of a request with so many tokens of input.
func (e Entry) PriceOf(input int) (Price, bool) {
	var price Price
	for _, p := range e.Prices {
		if p.Above == 0 || input > p.Above {
			price = p
		}
	}
	return price, len(e.Prices) > 0
}
