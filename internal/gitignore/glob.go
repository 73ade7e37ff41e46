package gitignore

import "strings"

// A glob is a compiled wildcard pattern: a list of steps over bytes.
type glob []step

type stepKind uint8

const (
	stepByte stepKind = iota // exactly this byte
	stepAny                  // any one byte, in path mode not a slash
	stepSet                  // one byte of a set, in path mode not a slash
	stepStar                 // any run of bytes, in path mode without a slash
	stepTree                 // "**": any run of bytes, slashes too
	stepDirs                 // "**/": nothing, or a run that ends in a slash
)

type step struct {
	kind stepKind
	b    byte
	path bool // slashes are not matched by this step
	set  *byteSet
}

// compile reads a wildcard pattern. In path mode wildcards stop at slashes.
// ok is false for a pattern that can match nothing.
func compile(s string, path bool) (g glob, ok bool) {
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '*':
			st, size := compileStar(s, i, path)
			g = append(g, st)
			i += size
		case '?':
			g = append(g, step{kind: stepAny, path: path})
			i++
		case '[':
			set, size, ok := compileSet(s[i:])
			if !ok {
				return nil, false
			}
			g = append(g, step{kind: stepSet, path: path, set: set})
			i += size
		case '\\':
			if i+1 == len(s) {
				return nil, false
			}
			g = append(g, step{kind: stepByte, b: s[i+1]})
			i += 2
		default:
			g = append(g, step{kind: stepByte, b: c})
			i++
		}
	}
	return g, true
}

// compileStar reads the run of asterisks at s[i:].
func compileStar(s string, i int, path bool) (st step, size int) {
	end := i
	for end < len(s) && s[end] == '*' {
		end++
	}
	size = end - i
	rest := s[end:]
	delimited := (i == 0 || s[i-1] == '/') &&
		(rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`))
	switch {
	case !path:
		return step{kind: stepStar}, size
	case size < 2 || !delimited:
		return step{kind: stepStar, path: true}, size
	case strings.HasPrefix(rest, "/"):
		return step{kind: stepDirs}, size + 1
	}
	return step{kind: stepTree}, size
}

// match reports whether g matches all of s. It goes back only to the last
// star and the last tree step: an earlier one can always be stretched less,
// never more usefully, so time is at most len(g) times len(s) squared.
func (g glob) match(s string) bool {
	gi, si := 0, 0
	starG, starS := -1, 0
	treeG, treeS := -1, 0
	for {
		if gi < len(g) {
			switch st := &g[gi]; {
			case st.kind == stepStar:
				starG, starS = gi, si
				gi++
				continue
			case st.kind == stepTree || st.kind == stepDirs:
				treeG, treeS = gi, si
				starG = -1
				gi++
				continue
			case si < len(s) && st.accepts(s[si]):
				gi++
				si++
				continue
			}
		} else if si == len(s) {
			return true
		}
		switch {
		case starG >= 0 && starS < len(s) && (!g[starG].path || s[starS] != '/'):
			starS++
			gi, si = starG+1, starS
		case treeG >= 0:
			next := treeS + 1
			if g[treeG].kind == stepDirs {
				slash := strings.IndexByte(s[treeS:], '/')
				if slash < 0 {
					return false
				}
				next = treeS + slash + 1
			}
			if next > len(s) {
				return false
			}
			treeS, starG = next, -1
			gi, si = treeG+1, next
		default:
			return false
		}
	}
}

func (st *step) accepts(c byte) bool {
	switch st.kind {
	case stepByte:
		return c == st.b
	case stepAny:
		return !st.path || c != '/'
	default:
		return st.set.has(c) && (!st.path || c != '/')
	}
}
