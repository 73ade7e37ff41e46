package rpc_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"acp-agent/acp/rpc"
)

const stdoutChild = "ACP_RPC_TEST_STDOUT_CHILD"

// Only what is written to the taken file reaches standard output: not what the process
// prints, nor what its children print (R145).
func TestTakeStdout(t *testing.T) {
	switch os.Getenv(stdoutChild) {
	case "child":
		printEverywhere()
		os.Exit(0)
	case "grandchild":
		fmt.Println("from the grandchild")
		os.Exit(0)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestTakeStdout$")
	child.Env = append(os.Environ(), stdoutChild+"=child")
	var stdout, stderr bytes.Buffer
	child.Stdout, child.Stderr = &stdout, &stderr
	if err := child.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if got := stdout.String(); got != "protocol\n" {
		t.Errorf("stdout %q", got)
	}
	for _, want := range []string{"printed", "from the grandchild"} {
		if !bytes.Contains(stderr.Bytes(), []byte(want)) {
			t.Errorf("stderr %q lacks %q", stderr.String(), want)
		}
	}
}

func printEverywhere() {
	out, err := rpc.TakeStdout()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("printed")
	grandchild := exec.Command(os.Args[0], "-test.run=^TestTakeStdout$")
	grandchild.Env = append(os.Environ(), stdoutChild+"=grandchild")
	grandchild.Stdout = os.Stdout
	if err := grandchild.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintln(out, "protocol")
}
