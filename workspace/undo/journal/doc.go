// Package journal remembers what a session's operations did to files, well
// enough to take it back: for each change what stood there before, as bytes in
// a private directory, and what the change left, as a digest.
//
// It owns the pre-images (content-addressed, bounded, made durable before the
// change), the order of the changes of one file and of one operation with the operations that
// it started, and the audit. It touches no file of the user's: the package that changes one stages
// an [Entry], keeps the pre-image, makes the change, and commits the entry or
// drops it. It does not decide whether a change may be taken back, nor how.
//
// A journal lives as long as its session. It imports the standard library and
// starts no goroutines.
//
//	j := journal.New(journal.Options{Dir: privateDir})
//	e := j.Stage(journal.Origin{Operation: callID})
//	content, kept, err := e.Keep(file)
//	if err != nil { ... } // nothing was changed yet
//	// ... the change itself ...
//	e.Commit(journal.Record{Path: path, Kind: journal.Modified, Before: before, After: after})
//
//	last := j.Last(path) // what an undo takes back
//
// # Requirements
//
// R95 (the stack of a file's changes), R127, R128 (records, rollback's order),
// R129 (audit). docs/security.md D1.
package journal
