package lfs_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"braid/agents/lfs"
	"braid/download"
)

// The example shows what git-lfs and the agent send each other for one object. The function Git stands for the git
// command.
func Example() {
	const oid = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello world")
	}))
	defer server.Close()
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	var said strings.Builder
	agent := lfs.Agent{
		In: strings.NewReader(`{"event": "init", "operation": "download", "remote": "origin"}
{"event": "download", "oid": "` + oid + `", "size": 11, "action": {"href": "` + server.URL + `/object"}}
{"event": "terminate"}
`),
		Out: &said,
		Client: func(lfs.Settings) (*download.Client, error) {
			return new(download.Client), nil
		},
		Git: func(context.Context, lfs.Command) (string, error) {
			return "Endpoint=" + server.URL + "/repo.git/info/lfs (auth=none)\nLfsStorageDir=" + dir + "\n", nil
		},
	}
	err = agent.Run(context.Background())
	fmt.Print(strings.ReplaceAll(said.String(), dir, "."))
	fmt.Println(err)
	// Output:
	// {}
	// {"event":"progress","oid":"b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9","bytesSoFar":11,"bytesSinceLast":11}
	// {"event":"complete","oid":"b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9","path":"./incomplete/b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9-braid"}
	// <nil>
}
