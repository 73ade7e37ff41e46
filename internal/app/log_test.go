package app

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/config"
)

func TestLogger_File(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "acp-agent")
	var stderr bytes.Buffer
	l := newLogger(&stderr)
	l.faultsAlone()
	defer l.close()
	l.Error("before the configuration")
	l.configure(config.Default(), dir)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory is there before the first record: %v", err)
	}
	l.Debug("too quiet")
	l.Info("a refusal")
	l.Warn("first", "call_id", "c1")
	l.Error("fault")
	l.close()
	l.Error("after the end")
	l.flush()

	got := readLog(t, filepath.Join(dir, logName))
	if !strings.Contains(got, "a refusal") || !strings.Contains(got, "first") || !strings.Contains(got, "fault") || strings.Count(got, "\n") != 3 {
		t.Errorf("file: %q", got)
	}
	for _, want := range []string{"before the configuration", "fault", "after the end"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("stderr lacks %q: %q", want, stderr.String())
		}
	}
	if strings.Count(stderr.String(), "\n") != 3 { // an editor shows it as something that went wrong
		t.Errorf("stderr has more than faults: %q", stderr.String())
	}
}

// The level in the environment is that of the file and of stderr, that in the
// configuration of the file alone. An editor gets faults alone.
func TestLogger_Levels(t *testing.T) {
	for _, tt := range []struct {
		name, env, level string
		editor           bool
		file, stderr     int // records
	}{
		{"neither", "", "info", true, 3, 1},
		{"neither, in a terminal", "", "info", false, 3, 2},
		{"environment", "debug", "debug", true, 4, 4},
		{"configuration", "", "debug", true, 4, 1},
		{"quieter", "error", "error", false, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(config.EnvLog, tt.env)
			cfg := config.Default()
			cfg.Log = config.Log{Level: tt.level, File: filepath.Join(t.TempDir(), "log")}
			var stderr bytes.Buffer
			l := newLogger(&stderr)
			if tt.editor {
				l.faultsAlone()
			}
			l.configure(cfg, "")
			l.Debug("a")
			l.Info("b")
			l.Warn("c")
			l.Error("d")
			l.close()
			if n := strings.Count(readLog(t, cfg.Log.File), "\n"); n != tt.file {
				t.Errorf("%d records in the file, want %d", n, tt.file)
			}
			if n := strings.Count(stderr.String(), "\n"); n != tt.stderr {
				t.Errorf("%d records on stderr, want %d", n, tt.stderr)
			}
		})
	}
}

func TestLogger_Redacts(t *testing.T) {
	const key = "sk-canary-0123456789"
	cfg := config.Default()
	cfg.Model.APIKey = config.NewSecret(key)
	cfg.Log.File = filepath.Join(t.TempDir(), "log")
	var stderr bytes.Buffer
	l := newLogger(&stderr)
	defer l.close()
	l.configure(cfg, "")
	l.redactValues("given-by-the-client", "tiny")
	l.With("bound", key).Error("said "+key, "text", "a "+key+" b", "error", errors.New("header "+key),
		"both", key+" given-by-the-client", "word", "tiny", "number", 7)
	l.flush()

	for place, got := range map[string]string{"stderr": stderr.String(), "file": readLog(t, cfg.Log.File)} {
		if strings.Contains(got, key) || strings.Contains(got, "given-by-the-client") {
			t.Errorf("%s holds a secret: %s", place, got)
		}
		if !strings.Contains(got, "word=tiny") || !strings.Contains(got, "number=7") || strings.Count(got, "[redacted]") != 6 {
			t.Errorf("%s: %s", place, got)
		}
	}
}

func TestLogFile_Rotates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var one, other logFile // two processes with the same file
	one.use(path)
	other.use(path)
	defer one.close()
	defer other.close()
	record := bytes.Repeat([]byte("x"), 1<<20)
	for range 4 {
		one.append(record)
		other.append(record)
	}
	for name, most := range map[string]int64{path: maxLogFile, path + oldLog: maxLogFile} {
		if info, err := os.Stat(name); err != nil || info.Size() > most || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 2 {
		t.Errorf("files: %v, %v", entries, err)
	}
}

// A place where no file can be is given up in silence: stderr has the record.
func TestLogger_NoFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := config.Default()
	cfg.Log.File = filepath.Join(file, "log")
	var stderr bytes.Buffer
	l := newLogger(&stderr)
	l.configure(cfg, "")
	l.Error("said")
	l.flush()
	if !strings.Contains(stderr.String(), "msg=said") {
		t.Errorf("stderr: %q", stderr.String())
	}
}

func readLog(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
