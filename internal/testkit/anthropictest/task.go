package anthropictest

import "fmt"

// Task is a task of 30 calls in 20 steps, with thinking before each, half of them of
// files that are not there, and an answer.
func Task() []Step {
	var steps []Step
	for i := range 20 {
		step := Step{
			Thinking: fmt.Sprintf("Step %d: \"look\" — ä 😀.", i), Silent: i%7 == 6,
			Calls: []Call{{Name: "read", Input: `{"path":"there.txt"}`}},
		}
		switch {
		case i%2 == 1:
			step.Redacted, step.Text = "hidden", "Two at once."
			step.Calls = append(step.Calls, Call{Name: "read", Input: `{"path":"absent.txt"}`})
		case i%4 == 2:
			step.Calls[0].Input = `{"path":"missing.txt"}`
		}
		steps = append(steps, step)
	}
	return append(steps, Step{Thinking: "That was all.", Text: "All read."})
}
