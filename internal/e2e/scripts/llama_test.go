package scripts

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// llamaServer starts a server that answers as llama-server does which was started with -c:
// `llamaserver WINDOW LOADING`. Its address is $SERVER. As many questions as LOADING says are
// answered as while it loads the model. It counts four bytes of a request as one token, says
// so, and refuses what exceeds the window. A prompt with "write N" is answered with N bytes.
//
// The answers have the shapes of github.com/ggml-org/llama.cpp, tools/server: server.cpp for
// /props, /api/show and the models, server-http.cpp for the loading, and for the refusal pull
// request 15780.
func llamaServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: llamaserver WINDOW LOADING")
	}
	window, err := strconv.Atoi(args[0])
	ts.Check(err)
	loading, err := strconv.Atoi(args[1])
	ts.Check(err)
	llama := &llama{window: window}
	llama.loading.Store(int64(loading))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"models":[{"name":"tiny.gguf","model":"tiny.gguf","capabilities":["completion"]}],`+
			`"object":"list","data":[{"id":"tiny.gguf","object":"model","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}`)
	})
	mux.HandleFunc("GET /props", llama.loaded(`{"default_generation_settings":{"n_ctx":%d},"total_slots":1,"modalities":{"vision":false,"audio":false}}`))
	mux.HandleFunc("POST /api/show", llama.loaded(`{"model_info":{"llama.context_length":%d},"modelfile":"","parameters":"","capabilities":["completion"]}`))
	mux.HandleFunc("POST /v1/chat/completions", llama.chat)
	server := httptest.NewServer(mux)
	ts.Defer(server.Close)
	ts.Setenv("SERVER", server.URL+"/v1")
}

type llama struct {
	window  int
	loading atomic.Int64
}

// loaded answers with a text that has the window in it, once the model is loaded.
func (l *llama) loaded(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if l.loading.Add(-1) >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`)
			return
		}
		fmt.Fprintf(w, text, l.window)
	}
}

var writeBytes = regexp.MustCompile(`^write (\d+)`)

func (l *llama) chat(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	tokens := len(body) / 4
	if tokens > l.window {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}}`, tokens, l.window)
		return
	}
	var asked struct {
		Messages []struct{ Role, Content string }
	}
	_ = json.Unmarshal(body, &asked) // what is sent without images has texts
	answer := "A short answer."
	for _, m := range asked.Messages {
		if found := writeBytes.FindStringSubmatch(m.Content); m.Role == "user" && found != nil {
			n, _ := strconv.Atoi(found[1])
			answer = strings.Repeat("word ", n/5)
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":\"stop\"}]}\n\n", answer)
	fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n\ndata: [DONE]\n\n", tokens, len(answer)/4)
}
