package textedit_test

import (
	"context"
	"errors"
	"fmt"

	"acp-agent/internal/textedit"
)

// An old text that differs in its indentation alone is found, and the new one takes the
// indentation of the file.
func ExampleApply() {
	content := "func main() {\n\tif ready {\n\t\tstart()\n\t}\n}\n"
	result, err := textedit.Apply(context.Background(), content,
		"if ready {\n  start()\n}", "if ready {\n  log()\n  start()\n}", false)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(textedit.Unified(context.Background(), "main.go", content, result.Content))
	fmt.Println(result.LineRange, result.Replacements, result.Fuzzy)
	// Output:
	// diff --git a/main.go b/main.go
	// --- a/main.go
	// +++ b/main.go
	// @@ -1,5 +1,6 @@
	//  func main() {
	//  	if ready {
	// +		log()
	//  		start()
	//  	}
	//  }
	// [3 3] 1 true
}

// A miss says where the nearest text stands.
func ExampleNearestHint() {
	content := "one := 1\ntwo := 2\nthree := 3\n"
	_, err := textedit.Apply(context.Background(), content, "two := 22", "two := 4", false)
	if errors.As(err, new(textedit.NotFoundError)) {
		fmt.Println(textedit.NearestHint(context.Background(), content, "two := 22"))
	}
	// Output:
	// closest text is at lines 2-2:
	// two := 2
}
