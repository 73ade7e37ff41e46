package scripts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// modelServer starts a server of models that wants a key: `modelserver KEY MODEL...`. Its
// address is $SERVER. It answers each prompt with the words "answer with KEY'S LENGTH",
// and refuses a wrong key as hosted servers do, with the key in the message.
func modelServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: modelserver KEY MODEL...")
	}
	key, models := args[0], args[1:]
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		var list struct {
			Data []map[string]string `json:"data"`
		}
		for _, name := range models {
			list.Data = append(list.Data, map[string]string{"id": name, "object": "model"})
		}
		_ = json.NewEncoder(w).Encode(list) // the client may be gone
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Model string }
		_ = json.NewDecoder(r.Body).Decode(&asked)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", "answer of "+asked.Model)
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); given != key {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, given)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	ts.Defer(server.Close)
	ts.Setenv("SERVER", server.URL+"/v1")
}
