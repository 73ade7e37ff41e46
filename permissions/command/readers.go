package command

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// readers is the list of commands that only read, with their vetted options. Options that write, run
// a program, follow links or wait for ever are left out on purpose: sort -o, uniq IN OUT, grep -R,
// tail -f, date -s, tree -o, file -C.
var readers = map[string]entry{
	// Text, numbers and times.
	"true":   {free: true},
	"false":  {free: true},
	":":      {free: true},
	"echo":   {free: true},
	"printf": {args: argText, check: checkPrintf},
	"exit":   {args: argText, most: 1},
	"sleep":  {args: argText, most: 1, check: checkSleep},
	"seq":    {args: argText, most: 3, options: options{flags: "w", valued: "sf", long: "--equal-width", longVal: "--separator --format"}},
	"date": {args: argText, check: checkDate, options: options{
		flags: "uR", valued: "d", file: "r", long: "--utc --universal --rfc-email", longVal: "--date --rfc-3339", longMay: "--iso-8601", longFile: "--reference",
	}},
	"basename": {args: argText, options: options{flags: "az", valued: "s", long: "--multiple --zero", longVal: "--suffix"}},
	"dirname":  {args: argText, options: options{flags: "z", long: "--zero"}},
	"tr":       {args: argText, most: 2, options: options{flags: "cCdst", long: "--complement --delete --squeeze-repeats --truncate-set1"}},

	// Names and attributes of files.
	"pwd": {options: options{flags: "LP"}},
	"ls": {args: argNames, options: options{
		flags:   "1aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ",
		long:    "--all --almost-all --human-readable --group-directories-first --reverse --size --inode --directory --full-time --recursive --numeric-uid-gid --no-group --literal --si",
		longMay: "--color --classify --hyperlink", longVal: "--sort --time --time-style --format --hide --ignore --width --indicator-style",
	}},
	"tree": {args: argNames, options: options{
		apart: true, flags: "adfisphugDCnJXrtvAFNQcU", valued: "LPI", long: "--dirsfirst --noreport --prune --du --gitignore --si", longVal: "--filelimit --sort",
	}},
	"realpath": {args: argNames, options: options{
		flags: "emsqLPz", long: "--canonicalize-existing --canonicalize-missing --strip --no-symlinks --quiet --logical --physical --zero", longFile: "--relative-to --relative-base",
	}},
	"readlink": {args: argNames, options: options{flags: "femnqsvz", long: "--canonicalize --canonicalize-existing --canonicalize-missing --no-newline"}},
	"stat":     {args: argNames, options: options{flags: "fLltxnqrs", valued: "c", long: "--file-system --terse --dereference", longVal: "--format --printf"}},
	"file":     {args: argNames, options: options{flags: "biLhkNrpv0", long: "--brief --mime --mime-type --mime-encoding --dereference --no-dereference --keep-going --raw"}},
	"du": {args: argNames, options: options{
		flags: "abchkmsxlS0", valued: "dBt", long: "--all --apparent-size --bytes --total --human-readable --summarize --si --one-file-system", longVal: "--max-depth --block-size --exclude --threshold",
	}},
	"df": {args: argNames, options: options{
		flags: "ahHiklmPT", valued: "txB", long: "--all --human-readable --inodes --local --portability --print-type --si --total", longVal: "--type --exclude-type --block-size", longMay: "--output",
	}},
	"which": {args: argText, options: options{flags: "as", long: "--all"}},
	"type":  {args: argText, options: options{flags: "afptP"}},

	// The machine and its user.
	"uname":   {options: options{flags: "amnoprsv", long: "--all"}},
	"arch":    {},
	"nproc":   {options: options{long: "--all"}},
	"lscpu":   {options: options{flags: "aebcJpxy", long: "--json --all --online --offline --bytes"}},
	"lsblk":   {options: options{flags: "abdfilmnpOrtJDST", valued: "oIe", long: "--json --all --bytes --fs --nodeps --paths"}},
	"whoami":  {},
	"id":      {options: options{flags: "ugGnr"}},
	"groups":  {args: argText},
	"tty":     {},
	"locale":  {args: argText, options: options{flags: "amck"}},
	"getconf": {args: argText, most: 1, options: options{flags: "a"}},

	// The content of files as it is, or a part of it.
	"cat": {args: argFiles, options: options{
		flags: "AbeEnstTuv", long: "--number --number-nonblank --show-all --show-ends --show-tabs --show-nonprinting --squeeze-blank",
	}},
	"tac": {args: argFiles, check: checkTac},
	"head": {args: argFiles, options: options{
		flags: "qvz", valued: "nc", number: true, long: "--quiet --silent --verbose --zero-terminated", longVal: "--lines --bytes",
	}},
	"tail": {args: argFiles, options: options{
		flags: "qvz", valued: "nc", number: true, long: "--quiet --silent --verbose --zero-terminated", longVal: "--lines --bytes",
	}},
	"nl":      {args: argFiles, options: options{flags: "p", valued: "bdfhilnsvw", longVal: "--body-numbering --number-width --number-format --starting-line-number"}},
	"strings": {args: argFiles, check: checkStrings, options: options{flags: "af", valued: "nt", long: "--all --print-file-name", longVal: "--bytes --radix"}},
	"tee":     {args: argText, check: checkTee, options: options{posix: true, flags: "aip", long: "--append --ignore-interrupts"}},

	// The content of files in another form.
	"rev":    {args: argFiles},
	"fold":   {args: argFiles, options: options{flags: "bs", valued: "w", long: "--bytes --spaces", longVal: "--width"}},
	"column": {args: argFiles, options: options{flags: "tx", valued: "scoNRH", long: "--table", longVal: "--separator --output-separator --table-columns --table-right --table-hide"}},
	"paste":  {args: argFiles, options: options{flags: "sz", valued: "d", long: "--serial", longVal: "--delimiters"}},
	"cut": {args: argFiles, options: options{
		flags: "nsz", valued: "bcdf", long: "--only-delimited --complement --zero-terminated", longVal: "--bytes --characters --delimiter --fields --output-delimiter",
	}},
	"sort": {args: argFiles, options: options{
		flags: "bdfgiMhnRrVcCmsuz", valued: "kt",
		long:    "--reverse --unique --numeric-sort --human-numeric-sort --version-sort --stable --ignore-case --general-numeric-sort --month-sort --ignore-leading-blanks --dictionary-order --zero-terminated --merge",
		longVal: "--key --field-separator --sort", longMay: "--check",
	}},
	"uniq": {args: argFiles, most: 1, options: options{
		posix: true, flags: "cdDiuz", valued: "fsw", long: "--count --repeated --unique --ignore-case --zero-terminated",
		longVal: "--skip-fields --skip-chars --check-chars", longMay: "--all-repeated --group",
	}},
	"od":      {args: argFiles, options: options{flags: "abcdfhilosvx", valued: "AjNt"}},
	"hexdump": {args: argFiles, options: options{flags: "bcCdovx", valued: "ns"}},
	"xxd":     {args: argFiles, most: 1, options: options{lone: true, posix: true, flags: "abCeEipruv", valued: "cglos"}},
	"base64":  {args: argFiles, most: 1, options: options{flags: "dDi", valued: "w", long: "--decode --ignore-garbage", longVal: "--wrap"}},

	// Counts, sums and comparisons of files.
	"wc": {args: argFiles, options: options{
		flags: "clmwL", long: "--lines --words --chars --bytes --max-line-length", longVal: "--total",
	}},
	"md5sum":    {args: argFiles},
	"sha1sum":   {args: argFiles},
	"sha256sum": {args: argFiles},
	"sha512sum": {args: argFiles},
	"shasum":    {args: argFiles, options: options{valued: "a", flags: "bt"}},
	"cksum":     {args: argFiles},
	"diff": {args: argFiles, most: 2, check: checkDiff, options: options{
		flags: "ucqsiwbBEZaypedtrN", valued: "UCWIx", number: true,
		long:    "--recursive --new-file --brief --side-by-side --ignore-all-space --ignore-space-change --ignore-blank-lines --report-identical-files --suppress-common-lines --strip-trailing-cr --ignore-case --text --minimal --ignore-trailing-space --show-c-function --expand-tabs",
		longMay: "--unified --context --color", longVal: "--width --label --ignore-matching-lines --exclude",
	}},
	"cmp":  {args: argFiles, most: 2, options: options{flags: "bls", long: "--print-bytes --silent --quiet --verbose"}},
	"comm": {args: argFiles, most: 2, options: options{flags: "123i", long: "--check-order --nocheck-order"}},

	// Searches.
	"grep":  grepEntry(),
	"egrep": grepEntry(),
	"fgrep": grepEntry(),
	"rg":    rgEntry(),

	// Scripts in a language of their own, which a check reads.
	"sed": {args: argText, check: checkSed, options: options{flags: "nEr", long: "--quiet --silent --regexp-extended"}},
	"awk": {args: argText, check: checkAwk, options: options{valued: "Fv", posix: true}},
	"jq":  {args: argText, check: checkJQ, options: options{apart: true, flags: "rcMSejns", file: "f", longFile: "--from-file", long: "--raw-output --compact-output --sort-keys --monochrome-output --exit-status --join-output --null-input --slurp"}},
}

func grepEntry() entry {
	return entry{args: argPattern, check: checkGrep, options: options{
		flags: "EFGPiyvwxcLloqsbHhnTzZraIU", valued: "ABCem", file: "f", number: true,
		long:     "--line-number --ignore-case --no-ignore-case --recursive --count --files-with-matches --files-without-match --only-matching --word-regexp --line-regexp --extended-regexp --fixed-strings --basic-regexp --perl-regexp --invert-match --no-messages --quiet --silent --with-filename --no-filename --null --text --byte-offset --initial-tab",
		longVal:  "--include --exclude --exclude-dir --max-count --after-context --before-context --regexp --binary-files --directories --label",
		longMay:  "--color --colour --context",
		longFile: "--file --exclude-from",
	}}
}

func checkGrep(l *listing, _ *Part, p parsed, at dirs) finding {
	if p.seen["--directories"] != "" && p.seen["--directories"] != "skip" {
		return asks(Unlisted, "grep --directories is not on the list of what only reads")
	}
	if !p.has("-r", "--recursive") {
		return finding{}
	}
	paths := p.operands
	if !p.hasPattern() {
		paths = paths[min(1, len(paths)):]
	}
	if len(paths) == 0 {
		return l.tree(".", at, included(p))
	}
	var f finding
	for _, w := range paths {
		f = f.worse(l.tree(w.value, at, included(p)))
	}
	return f
}

// checkSleep leaves a short sleep to a read-only sandbox, which has a time limit.
func checkSleep(_ *listing, _ *Part, p parsed, _ dirs) finding {
	for _, w := range p.operands {
		if seconds, err := strconv.ParseFloat(w.value, 64); err != nil || !plainNumber().MatchString(w.value) || seconds > maxSleep {
			return asks(Endless, "it sleeps too long for what only reads")
		}
	}
	return asksUnlessReadOnly(Endless, "it waits")
}

// suffixGlob matches a glob that only says how a name ends, such as *.go.
var suffixGlob = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\*(\.[A-Za-z0-9_+-]+)+$`) })

// included returns which files a recursive grep reads, where --include says it by the ends of their
// names; nil means any. With --exclude the order of both options counts, which parsed does not keep.
func included(p parsed) func(name string) bool {
	if !p.has("--include") || p.has("--exclude", "--exclude-from") {
		return nil
	}
	var ends []string
	for glob := range strings.SplitSeq(p.seen["--include"], "\n") {
		if !suffixGlob().MatchString(glob) {
			return nil
		}
		ends = append(ends, strings.ToLower(glob[1:]))
	}
	return endsAs(ends)
}

// endsAs accepts the names that end in one of some texts in lower case.
func endsAs(ends []string) func(name string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(strings.ToLower(name), end) })
	}
}

// checkDiff allows regular files only: of a directory, diff reads all files, secrets and links
// included. A read-only sandbox hides the secrets and what the links lead to.
func checkDiff(l *listing, _ *Part, p parsed, at dirs) finding {
	whole := p.has("-r", "--recursive", "-N", "--new-file", "-x", "--exclude")
	for _, w := range p.operands {
		names, ok := at.join(w.value)
		if whole || !ok || l.env.Regular == nil || slices.ContainsFunc(names, func(name string) bool { return !l.env.Regular(name) }) {
			f := asksUnlessReadOnly(Outside, w.value+" is not known to be a file, and diff reads all of a directory")
			if !l.tree(w.value, at, nil).set {
				f.notSandboxable = ""
			}
			return f
		}
	}
	return finding{}
}

// checkStrings asks about "@FILE", in whatever position: GNU strings takes the words of that file for more
// arguments, and prints the words that do not name a file.
func checkStrings(_ *listing, _ *Part, p parsed, _ dirs) finding {
	for _, values := range p.seen {
		if strings.Contains(values, "@") {
			return asks(Outside, "strings reads more arguments from the file that follows @")
		}
	}
	if slices.ContainsFunc(p.operands, func(w word) bool { return strings.HasPrefix(w.value, "@") }) {
		return asks(Outside, "strings reads more arguments from the file that follows @")
	}
	return finding{}
}

// checkTac asks about a pipe: tac copies it into a temporary file, to read that from its end.
func checkTac(_ *listing, _ *Part, p parsed, _ dirs) finding {
	if len(p.operands) == 0 || slices.ContainsFunc(p.operands, func(w word) bool { return w.value == "-" }) {
		return asks(Writes, "tac keeps its input in a temporary file")
	}
	return finding{}
}

// checkTee allows /dev/null alone. Where options end at the first operand, a late one is a file that tee writes.
func checkTee(_ *listing, _ *Part, p parsed, _ dirs) finding {
	if slices.ContainsFunc(p.operands, func(w word) bool { return w.value != "/dev/null" }) {
		return asks(Writes, "tee changes files")
	}
	return finding{}
}

// checkDate asks about the operand that sets the clock, and about a time zone in a date, which names
// a file.
func checkDate(_ *listing, _ *Part, p parsed, _ dirs) finding {
	if strings.Contains(p.seen["-d"]+p.seen["--date"], "TZ") {
		return asks(Outside, "a date with a time zone reads the file that the zone names")
	}
	for _, w := range p.operands {
		if !strings.HasPrefix(w.value, "+") {
			return asks(Unlisted, "date with a time sets the clock")
		}
	}
	return finding{}
}
