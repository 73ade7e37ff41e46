// Package editor has a small model of each editor that runs this agent: what it keeps,
// replaces, drops and shows of the messages of the protocol, and what its buttons send.
//
// A model is fed the recorded lines of a run in both directions ([Show]) and keeps what
// the editor's user would have seen: texts, thoughts, cards, questions with the choices
// that can be reached. [Judge] holds that against what the same lines say by the protocol
// itself, and names each [Loss]:
//
//   - output: text or a terminal of a finished call that its card does not show, or an exit
//     code other than 0 that no word or pane of the card says
//   - diff: a change that neither the card nor the question shows or names
//   - busy: a card that looks unfinished though the agent said how it ended
//   - title: a title with characters that the editor takes for markup, a command that is
//     shown as one of its files, or a title that is cut so that its matter is missing
//   - text: text that the user never saw, or that sticks to the text before it
//   - question: a request that was dropped, whose matter is not shown, or whose choices
//     cannot be told apart
//   - answer: a choice that sends another answer than its label says, or more than that
//
// What an editor never shows whatever an agent does is not a loss; [Editor].Never says
// it, and docs/editors.md tells users. An answer that becomes a narrower one of the same
// verdict ("reject always" sent as "reject once") is not a loss either: nothing happens
// that the user did not agree to.
//
// The models are written from the sources of the editors, with file and revision in each
// file, and know nothing of acp/v1, so that they can disagree with it. It is for tests. It
// imports internal/testkit/acptest for the reading of lines, and starts no goroutines.
//
//	screen := editor.Show(editor.Zed, agent.Lines())
//	for _, loss := range editor.Judge(editor.Zed, agent.Lines()) {
//		t.Error(loss)
//	}
//
// # Requirements
//
// R145, R147, R152, R155 (test support).
package editor
