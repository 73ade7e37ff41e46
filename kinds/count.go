package kinds

import "strconv"

// Count is a number of things in words: "1 file", "2 files".
func Count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}
