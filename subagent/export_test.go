package subagent

// CardLine is a line of a card, for tests.
type CardLine = cardLine

// The cards, for tests.
var (
	Card      = liveCard
	FinalCard = finalCard
)
