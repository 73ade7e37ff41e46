package kinds

import "strings"

// patchFiles reads the header lines of a git-style patch: the paths it
// touches and whether all it does is delete, or rename.
func patchFiles(patch string) (paths []string, onlyDeletes, onlyRenames bool) {
	onlyDeletes, onlyRenames = true, true
	renames := 0
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "+++ "):
			onlyRenames = false
			path := strings.TrimPrefix(line[4:], "b/")
			if path != "/dev/null" {
				onlyDeletes = false
				paths = append(paths, path)
			}
		case strings.HasPrefix(line, "--- ") && line != "--- /dev/null":
			paths = append(paths, strings.TrimPrefix(line[4:], "a/"))
		case strings.HasPrefix(line, "rename to "):
			renames++
			onlyDeletes = false
			paths = append(paths, line[len("rename to "):])
		}
	}
	return paths, onlyDeletes && len(paths) > 0, onlyRenames && renames > 0
}

func patchKind(patch string) Kind {
	switch _, deletes, renames := patchFiles(patch); {
	case deletes:
		return Delete
	case renames:
		return Move
	}
	return Edit
}

func patchTitle(a arguments, in Place) (string, []Location) {
	paths, _, _ := patchFiles(a.text("patch"))
	var locations []Location
	var names []string
	seen := map[string]bool{}
	for _, path := range paths {
		abs := in.Abs(path)
		if seen[abs] {
			continue
		}
		seen[abs] = true
		locations = append(locations, Location{Path: abs})
		names = append(names, in.Rel(abs))
	}
	if len(names) == 0 {
		return "", nil
	}
	return "Patch " + strings.Join(names, ", "), locations
}

func lspKind(operation string) Kind {
	if operation == "diagnostics" || operation == "hover" {
		return Read
	}
	return Search
}
