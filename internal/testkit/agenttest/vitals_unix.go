//go:build unix

package agenttest

import (
	"encoding/json"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
)

// EnvVitals names the file into which the program under test writes its vitals at SIGUSR1.
const EnvVitals = "ACP_AGENT_TEST_VITALS"

// Vitals are what must not grow over a day.
type Vitals struct {
	Goroutines int
	Heap       uint64 // bytes in use after a collection
}

// reportVitals has the program write its vitals whenever it is sent SIGUSR1.
func reportVitals() {
	path := os.Getenv(EnvVitals)
	if path == "" {
		return
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for range asked {
			runtime.GC()
			runtime.GC() // what finalizers let go of
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			text, _ := json.Marshal(Vitals{runtime.NumGoroutine(), m.HeapAlloc})
			_ = os.WriteFile(path+".new", text, 0o600)
			_ = os.Rename(path+".new", path)
		}
	}()
}

// ReadVitals asks the program for its vitals.
func ReadVitals(t *testing.T, agent *acptest.Agent, path string) Vitals {
	t.Helper()
	time.Sleep(200 * time.Millisecond) // what a turn leaves behind ends
	_ = os.Remove(path)
	if err := agent.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(path)
		var v Vitals
		if err == nil && json.Unmarshal(text, &v) == nil {
			return v
		}
	}
	t.Fatal("the program did not write its vitals")
	return Vitals{}
}
