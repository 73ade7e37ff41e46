package catalogue

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

//go:embed models.tsv.gz
var packed []byte

//go:embed families.tsv
var familyText string

// table is the catalogue, unpacked.
type table struct {
	// lines are those of models, by provider and id.
	lines map[string]map[string]string
	// makers are the providers that make models, in the order of the table: a model of
	// another server is looked up with them.
	makers []string
}

// load unpacks the table when it is first needed.
var load = sync.OnceValue(unpack)

func unpack() *table {
	t := &table{lines: map[string]map[string]string{}}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return t // a test holds the embedded file intact
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		return t
	}
	var models map[string]string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch head, rest, _ := strings.Cut(line, " "); head {
		case "#date": // says only which list the file was made from
		case "#provider", "#maker":
			models = map[string]string{}
			t.lines[rest] = models
			if head == "#maker" {
				t.makers = append(t.makers, rest)
			}
		default:
			id, fields, _ := strings.Cut(line, "\t")
			models[strings.ToLower(id)] = fields
		}
	}
	return t
}

// Find returns what is known of a model of a provider, one of the names in model/preset.
// Under another name, as that of a server which the user runs, the makers' entries and
// the families count, without prices; Listed is false then.
func Find(provider, id string) (Entry, bool) {
	t := load()
	if e, ok := t.at(provider, id); ok {
		return e, true
	}
	name := strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	for _, maker := range t.makers {
		if e, ok := t.at(maker, name); ok {
			e.ID = id
			if maker != provider {
				e.Name, e.Listed, e.Prices = "", false, nil
			}
			return e, true
		}
	}
	return family(id, name)
}

// dated is the end of an id that names a snapshot of a model.
var dated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-(20\d\d-\d\d-\d\d|20\d{6})$`) })

// at returns the entry of an id, or of the id without its date.
func (t *table) at(provider, id string) (Entry, bool) {
	models, name := t.lines[provider], strings.ToLower(id)
	line, ok := models[name]
	if !ok && models != nil {
		line, ok = models[dated().ReplaceAllString(name, "")]
	}
	if !ok {
		return Entry{}, false
	}
	e := parse(line)
	e.ID, e.Listed = id, true
	return e, true
}

// parse reads the fields after the id: name, window, output, flags, levels, prices.
func parse(line string) Entry {
	fields := append(strings.Split(line, "\t"), make([]string, 6)...)
	e := Entry{Name: fields[0], Images: strings.Contains(fields[3], "i"), Reasons: strings.Contains(fields[3], "r")}
	e.Window, _ = strconv.Atoi(fields[1]) // an empty field is unknown
	e.Output, _ = strconv.Atoi(fields[2])
	for text := range strings.FieldsSeq(fields[4]) {
		name, value, renamed := strings.Cut(text, "=")
		if !renamed {
			value = name
		}
		e.Levels = append(e.Levels, Level{name, value})
	}
	for text := range strings.FieldsSeq(fields[5]) {
		e.Prices = append(e.Prices, parsePrice(text))
	}
	return e
}

// parsePrice reads "above:input/output/read/write".
func parsePrice(text string) Price {
	above, amounts, tiered := strings.Cut(text, ":")
	if !tiered {
		above, amounts = "0", text
	}
	var p Price
	p.Above, _ = strconv.Atoi(above)
	each := append(strings.Split(amounts, "/"), make([]string, 4)...)
	for i, into := range []*float64{&p.Input, &p.Output, &p.CacheRead, &p.CacheWrite} {
		*into, _ = strconv.ParseFloat(each[i], 64) // an empty amount is 0
	}
	return p
}

// family returns what is known of the models whose ids begin like this one, or are it but
// for a date; of several families the first counts.
func family(id, name string) (Entry, bool) {
	exact := dated().ReplaceAllString(name, "") + "$"
	for line := range strings.Lines(familyText) {
		prefix, fields, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok && !strings.HasPrefix(prefix, "#") && (strings.HasPrefix(name, prefix) || prefix == exact) {
			e := parse("\t" + fields) // a family has no name
			e.ID = id
			return e, true
		}
	}
	return Entry{}, false
}
