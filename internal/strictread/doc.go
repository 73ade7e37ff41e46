// Package strictread reads files that people write by hand, JSON with comments and the front
// matter of Markdown files, into one kind of tree in which each value knows its line and
// column. A decoder of the tree can therefore say where a mistake stands.
//
// It owns what both languages have in common: a name stands once in an object, anchors and
// values without a JSON form are refused, and an error has a position and never quotes a
// value, which may be a key. It owns how front matter is cut off, and how a description with
// a colon in it is read as it is meant. It refuses to know what the files are for: names,
// types and limits of fields are the caller's.
//
//	root, err := strictread.JSONC(data)
//	var mistake *strictread.Error
//	if errors.As(err, &mistake) {
//		return fmt.Errorf("%s:%d:%d: %s", file, mistake.Line, mistake.Column, mistake.Problem)
//	}
//	for _, member := range root.Members {
//		fmt.Println(member.Name, member.Value.At.Line)
//	}
//
// Both parsers descend by recursion, so callers bound the size of what they pass.
//
// Allowed imports: tailscale/hujson and go.yaml.in/yaml. It starts no goroutines.
//
// # Requirements
//
// It supports R8 (settings with a mount plan), R86 (skills) and R111 (manifests of agents).
package strictread
