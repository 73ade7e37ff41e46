package v1

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// secretNotice stands below every field that takes any text: whatever the
// question says, the answer is no place for a secret (R77).
const secretNotice = "Do not enter passwords or keys: answers go to the model."

// secretAsked returns the first question that asks the person to write a secret
// down, "" when none does. Answers of forms end up in the transcript and with
// the model, so secrets must not be asked for there (R77). A choice among
// labels of the model cannot hold one.
//
// It is a filter of wordings, the common ones of some languages, and cannot be
// complete: the notice is for what it misses.
func secretAsked(questions []tools.Question) string {
	for _, question := range questions {
		text := shownOf(question.Header) + "\n" + shownOf(question.Question)
		if len(question.Options) == 0 && (theSecretWords().asked(text) || fileAsked(text)) {
			return question.Question
		}
	}
	return ""
}

// shownOf is at least as much of a text as a form shows.
func shownOf(text string) string {
	runes := []rune(strings.TrimSpace(text))
	return string(runes[:min(len(runes), proseRunes)])
}

// asked reports whether a text asks for something that has a secret's name, with
// names such as apiKey taken apart or left together.
func (w *secretWords) asked(text string) bool {
	return w.askedIn(wordsOf(text, w.fold, true)) || w.askedIn(wordsOf(text, w.fold, false))
}

func (w *secretWords) askedIn(words []aWord) bool {
	for i := range words {
		if n := longest(w.strong, words[i:]); n > 0 && w.strongly(words, i, i+n) {
			return true
		}
		if n := longest(w.weak, words[i:]); n > 0 && w.weakly(words, i, i+n) {
			return true
		}
		if n := longest(w.mild, words[i:]); n > 0 && !w.excused(words, i+n) &&
			(w.demanded(words, i, i+n) || w.owned(words, i)) {
			return true
		}
	}
	return false
}

// strongly judges the name of a secret at [i, end): it is asked for, unless the
// question is about it, and nothing is demanded.
func (w *secretWords) strongly(words []aWord, i, end int) bool {
	switch {
	case w.demanded(words, i, end):
		return true
	case w.excused(words, end):
		return false
	}
	return w.owned(words, i) || !w.elsewhere(words, i)
}

// weakly judges a name that may mean another thing: it is asked for when it is
// demanded, the person's own, or all that is asked.
func (w *secretWords) weakly(words []aWord, i, end int) bool {
	if words[i].text == "pat" && !words[i].capitals {
		return false // a name of people
	}
	switch {
	case w.demanded(words, i, end):
		return true
	case w.excused(words, end):
		return false
	}
	from := sentence(words, i)
	plain := i-from >= 2 && i-from <= 4 && words[from].text == "what" && (words[from+1].text == "is" || words[from+1].text == "s")
	return w.owned(words, i) || plain && w.closes(words, end)
}

// demanded reports whether the person is told to write down what is named at
// [i, end): "enter the x", "x: type it here".
func (w *secretWords) demanded(words []aWord, i, end int) bool {
	const near = 4 // words between
	from := sentence(words, i)
	for k := max(from, i-near-1); k < i; k++ {
		if !w.ask[words[k].text] {
			continue
		}
		if k == from || words[k].apart || w.polite[words[k-1].text] {
			return true
		}
	}
	for k := end; k+1 < len(words) && k <= end+near; k++ {
		if w.ask[words[k].text] && w.pointers[words[k+1].text] {
			return true
		}
	}
	return false
}

// excused reports whether the word behind a name makes it a question about
// secrets. Punctuation between them ends that.
func (w *secretWords) excused(words []aWord, end int) bool {
	return end < len(words) && !words[end].apart && w.about[words[end].text]
}

// closes reports whether a name that ends there is the last of what it names:
// nothing follows in its sentence, or only what says where it belongs.
func (w *secretWords) closes(words []aWord, end int) bool {
	return end >= len(words) || words[end].apart || words[end].first || w.belongs[words[end].text]
}

// owned reports whether the name at i is of something that the person has.
func (w *secretWords) owned(words []aWord, i int) bool {
	const near = 3
	return slices.ContainsFunc(words[max(sentence(words, i), i-near):i], func(word aWord) bool { return w.owners[word.text] })
}

// elsewhere reports whether the sentence of the name at i asks for something
// else: a yes or no, or where a secret is.
func (w *secretWords) elsewhere(words []aWord, i int) bool {
	from := sentence(words, i)
	told, wished := false, words[from].text == "want"
	for k := from + 1; k < len(words) && !words[k].first; k++ {
		word := words[k]
		wish := word.text == "you" && k+1 < len(words) && w.wishes[words[k+1].text]
		if word.apart && (word.text == "what" || word.text == "which") || word.text == "and" || word.text == "you" && !wish {
			return false // a second question
		}
		told, wished = told || w.ask[word.text], wished || wish
	}
	if told && wished {
		return false // "do you want to enter"
	}
	switch {
	case w.openers[words[from].text]:
		return words[from].text != "how" || words[min(from+1, i)].text != "about"
	case words[from].text != "which" && words[from].text != "what":
		return false
	}
	return slices.ContainsFunc(words[from+1:min(i, from+4)], func(word aWord) bool { return w.places[word.text] })
}

// sentence is where the sentence of a word begins.
func sentence(words []aWord, i int) int {
	for i > 0 && !words[i].first {
		i--
	}
	return i
}

// longest is how many words the longest of the phrases has with which words
// begin, 0 when none does.
func longest(phrases [][]string, words []aWord) int {
	most := 0
	for _, phrase := range phrases {
		if len(phrase) > most && len(phrase) <= len(words) &&
			slices.EqualFunc(phrase, words[:len(phrase)], func(p string, word aWord) bool { return p == word.text }) {
			most = len(phrase)
		}
	}
	return most
}

// fileQuestions finds names of files that hold secrets, and demands for what
// stands in a file.
var fileQuestions = sync.OnceValue(func() (m struct{ file, demand, open *regexp.Regexp }) {
	m.file = regexp.MustCompile(`(?i)(?:^|[^\w.])(?:\.env(?:\.\w+)*|\.(?:netrc|npmrc|pypirc|pgpass|git-credentials)|` +
		`\.(?:aws|ssh|gnupg|kube)[/\\]|\.docker[/\\]config|id_(?:rsa|dsa|ecdsa|ed25519)|[\w./~-]*\.(?:pem|p12|pfx)|/etc/shadow|` +
		`(?:dotenv|credentials|env) file|keychain)(?:\W|\w|$)`)
	m.demand = regexp.MustCompile(`(?i)\bpaste\b|\b(?:contents?|output|text|lines?|values?) (?:of|from|in)\b|\bwhat(?:'s|’s| is| does| stands)\b[^?]*\b(?:in|contains?|say)\b|` +
		`\b(?:share|send|provide|attach|upload|post|give|show|tell|type|enter|write)(?: (?:me|us|here))*(?: (?:the|your|all|full|whole))+\b`)
	m.open = regexp.MustCompile(`(?i)\.env\.(?:example|sample|template)\b`)
	return m
})

// fileAsked reports whether a text asks for what stands in a file of secrets.
func fileAsked(text string) bool {
	q := fileQuestions()
	return q.file.MatchString(q.open.ReplaceAllString(text, "example")) && q.demand.MatchString(text)
}

func secretRefused(question string) error {
	return &tools.Error{
		Kind: tools.BadInput, Code: "asking-secret",
		Message: "question: a secret must not be asked for, since answers are kept and sent to the model: " + kinds.Line(question, titleRunes),
		Hint:    "Tell the user in chat to put it where the program reads it, such as an environment variable or a file that is not committed.",
	}
}
