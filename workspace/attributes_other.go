//go:build !linux

package workspace

import (
	"os"

	"acp-agent/workspace/undo/journal"
)

// Extended attributes are not kept here.

func keepAttributes(*os.File, *place) {}

func attributesOf(*os.File) []journal.Attribute { return nil }

func setAttributes(*os.File, []journal.Attribute) {}
