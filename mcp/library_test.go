package mcp_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/mcp"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// serve is a connection to a server of the library's own.
func serve(t *testing.T, server *sdk.Server) io.ReadWriteCloser {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	end := func() {
		in.Close()
		out.Close()
	}
	go func() {
		_ = server.Run(context.Background(), &sdk.IOTransport{Reader: in, Writer: out}) // it ends with its pipes
		end()
	}()
	return pipe{fromServer, toServer, func() {
		end()
		fromServer.Close()
		toServer.Close()
	}}
}

// librarian is a server of the library's own with prompts and resources.
func librarian() *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "librarian", Version: "1"}, nil)
	server.AddPrompt(&sdk.Prompt{
		Name: "sum up", Title: "Sums up.", Arguments: []*sdk.PromptArgument{{Name: "style"}, {Name: "book", Required: true}},
	}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		a := r.Params.Arguments
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{
			{Role: "user", Content: &sdk.TextContent{Text: "Sum up " + a["book"] + " in " + a["style"] + "."}},
			{Role: "assistant", Content: &sdk.TextContent{Text: "Yes."}},
			{Role: "user", Content: &sdk.ImageContent{MIMEType: "image/png", Data: []byte("png")}},
		}}, nil
	})
	for n := range 101 {
		server.AddResource(&sdk.Resource{URI: fmt.Sprintf("shelf://%03d", n), Name: "book", MIMEType: "text/plain"}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, Text: "It is " + r.Params.URI}}}, nil
		})
	}
	server.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "shelf://{n}", Name: "any book"}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	})
	return server
}

// R88, R90: prompts and resources of a server of the library's own are listed, filled in and
// read; that they change is told once they have been listed anew.
func TestLibraryServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, changes := librarian(), 0
		m := mcp.New(mcp.Options{
			Start:   func(context.Context, mcp.Server, io.Writer) (io.ReadWriteCloser, error) { return serve(t, server), nil },
			Changed: func() { changes++ },
		})
		defer m.Close()
		m.Set(local("lib"))
		synctest.Wait()
		want := []mcp.Prompt{{
			Command: "mcp:lib:sum_up_91a27aaf", Name: "sum up", Description: "Sums up.",
			Arguments: []mcp.Argument{{Name: "book", Required: true}, {Name: "style"}},
		}}
		if diff := cmp.Diff(want, m.Prompts()); diff != "" || changes != 1 {
			t.Fatalf("told %d times; prompts (-want +got):\n%s", changes, diff)
		}
		parts, err := m.Expand(t.Context(), want[0].Command, `"The Trial" one line`)
		if err != nil || len(parts) != 2 {
			t.Fatalf("%v, %v", parts, err)
		}
		text, image := parts[0].(*transcript.TextPart), parts[1].(*transcript.ImagePart)
		if !text.Synthetic || !strings.HasPrefix(text.Text, `<mcp_prompt server="lib" name="sum up" id="`) ||
			!strings.Contains(text.Text, "\n\nSum up The Trial in one line.\n\nAn assistant is quoted:\n> Yes.\n\n[image 1, below]\n</mcp_prompt id=") || image.Data != "cG5n" {
			t.Errorf("made of it: %+v, %+v", text, image)
		}

		if got := m.Listing("shelf://007"); got != "lib" {
			t.Errorf("listed by %q", got)
		}
		parts, err = m.Read(t.Context(), "shelf://007")
		if err != nil || !strings.HasPrefix(parts[0].(*transcript.TextPart).Text, `<mcp_resource server="lib" uri="shelf://007" id="`) ||
			!strings.Contains(parts[0].(*transcript.TextPart).Text, "\nIt is shelf://007\n</mcp_resource id=") {
			t.Errorf("read %v, %v", parts, err)
		}
		if got := m.Listing("shelf://{n}") + m.Listing("shelf://900"); got != "" {
			t.Errorf("what is not listed is listed by %q", got)
		}

		server.AddPrompt(&sdk.Prompt{Name: "another"}, nil)
		time.Sleep(time.Second) // the library gathers changes before it tells of them
		synctest.Wait()
		if len(m.Prompts()) != 2 || changes != 2 {
			t.Errorf("%d prompts, told %d times", len(m.Prompts()), changes)
		}
		m.Set(nil)
		if len(m.Prompts()) != 0 || changes != 3 {
			t.Errorf("%d prompts of no server, told %d times", len(m.Prompts()), changes)
		}
	})
}

// R88: the tool that reads resources lists them page by page, and reads one.
func TestReader(t *testing.T) {
	m := mcp.New(mcp.Options{Start: func(context.Context, mcp.Server, io.Writer) (io.ReadWriteCloser, error) {
		return serve(t, librarian()), nil
	}})
	defer m.Close()
	m.Set(local("lib"))
	m.AwaitLists(t.Context())
	for _, tt := range []struct {
		name, args, holds, lacks, err string
	}{
		{"the first page", `{}`, "- shelf://099; book; text/plain\nTemplates; fill in what stands in braces:\n- shelf://{n}; any book\nThere are more: call again with cursor \"100\".", "shelf://100", ""},
		{"the last page", `{"cursor":"100"}`, "Resources of the MCP server lib:\n- shelf://100; book; text/plain", "cursor", ""},
		{"behind the last page", `{"cursor":"9999"}`, "lists no resources here", "shelf", ""},
		{"a cursor of nobody's", `{"cursor":"-1"}`, "", "", `cursor "-1" is none that a page of the list named`},
		{"one resource", `{"uri":"shelf://100"}`, "It is shelf://100", "", ""},
		{"none", `{"uri":"shelf://900"}`, "", "", "mcp server lib: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, _ := m.Tools()
			result, err := list[0].Run(t.Context(), &runtime{}, tools.NewArgs(tt.args))
			if tt.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || !strings.Contains(result.Text, tt.holds) || tt.lacks != "" && strings.Contains(result.Text, tt.lacks) {
				t.Errorf("%v, %v", result, err)
			}
		})
	}
}

// A server's own tool of that name is the one that is there.
func TestReader_OwnTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fake{tools: []object{plain("read_resource")}, can: object{"resources": object{}}, other: func(method string, _ object) object {
			return object{"resources": []object{}, "resourceTemplates": []object{}}
		}}
		m := manage(t, map[string]*fake{"s": server})
		m.Set(local("s"))
		synctest.Wait()
		list, _ := m.Tools()
		if len(list) != 1 || list[0].Description != "Does read_resource." || list[0].Source != (tools.Source{Kind: tools.MCP, Server: "s", Name: "read_resource"}) {
			t.Errorf("tools %v", list)
		}
		m.Close()
	})
}
