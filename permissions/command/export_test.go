package command

// GitKeyRuns is gitKeyRuns, which the tests compare with what git reads.
var GitKeyRuns = gitKeyRuns
