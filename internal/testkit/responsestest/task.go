package responsestest

import "fmt"

// Task is a task of 30 calls in 20 steps, with thinking before each, half of them of
// files that are not there, and an answer.
func Task() []Step {
	var steps []Step
	for i := range 20 {
		step := Step{
			Thoughts: []string{fmt.Sprintf("Step %d: \"look\" — ä 😀.", i), "And <so>."},
			Calls:    []Call{{Name: "read", Arguments: `{"path":"there.txt"}`}},
		}
		switch {
		case i%2 == 1:
			step.Comment, step.Between = "Two at once.", i%4 == 1
			step.Calls = append(step.Calls, Call{Name: "read", Arguments: `{"path":"absent.txt"}`})
		case i%4 == 2:
			step.Silent, step.Thoughts = true, nil
			step.Calls[0].Arguments = `{"path":"missing.txt"}`
		}
		steps = append(steps, step)
	}
	return append(steps, Step{Thoughts: []string{"That was all."}, Comment: "So.", Text: "All read."})
}
