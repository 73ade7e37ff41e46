// Package redact finds secrets in text and takes them out.
//
// It owns the shapes of well-known keys ([Holds], [Text]) and the set of configured values
// that must not be shown ([Values]), in the spellings that they take in JSON and in
// addresses. What is found is replaced by [Mask]. [Values.Hides] finds the values in what is to
// leave the machine, in more encodings.
//
// It refuses to know where values come from and where text goes. It imports
// internal/jsonscan and starts no goroutines.
//
//	var values redact.Values
//	values.Add(apiKey)
//	log(values.Text("the server answered: " + body)) // values and shapes
//	tell(values.Known(text))                         // values alone: text that people work on
//
// # Requirements
//
// docs/security.md D3 (redaction in logs), X1 (what must not be in the environment of a child).
package redact
