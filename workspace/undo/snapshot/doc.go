// Package snapshot keeps a copy of a session's directories as they stand before a command runs,
// so that what the command changed is known afterwards, and can be put back.
//
// It owns the walk of the directories, its bounds, and the file that holds the copies. A
// [Tree] is brought up to date by [Tree.Refresh]: names are listed anew each time, and only files
// that differ from the last look in identity, size, mode or one of their times are read. It does
// not know who changed a file, and changes none.
//
// # What is copied
//
// Contents are copied, all of them, at the first look. The alternatives were measured or weighed
// on a tree of 20,000 files and 105 MB: listing it takes 0.1 to 0.2 s on two cores, copying it 0.7
// to 1 s with four readers, once in a session; from then on a look costs the listing alone. Links
// and clones are no copies of a file that is written in place, or need file systems that most users
// do not have. The objects of a git repository would save the copy, but git may collect or repack
// them in the very command that is to be taken back, and filters make of them other bytes than
// those of the file.
//
// # Bounds
//
// One look lists at most 50,000 entries in 1 s, and reads files of at most 16 MiB, 256 MiB in all, for
// at most 3 s; [Bounds] holds the figures. The outermost directories come first. What lies beyond is
// known by size and time alone: that it changed is seen, and [Entry.Lack] says why it cannot be put back.
// What a look had no time for is read by the next one. Directories that .gitignore ignores, .git
// and node_modules are not looked at; ignored files elsewhere are. Secrets are never read.
//
// It imports internal/gitignore, internal/pathname and internal/rootfile. Each look starts up to
// four goroutines and waits for them.
//
//	tree := snapshot.New(snapshot.Options{Roots: roots, Dir: private.Images})
//	tree.Refresh(ctx, nil)
//	// ... a command runs ...
//	tree.Refresh(ctx, func(look snapshot.Look) {
//		for _, diff := range look.Diffs { io.Copy(w, tree.Reader(diff.Before)) }
//	})
//
// # Requirements
//
// R127, R128 (what a command changed, and what stood there before). docs/security.md D1, P8.
package snapshot
