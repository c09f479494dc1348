package serve_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"braid/serve"
)

// A folder with mirrors, as a part of any server that takes an http.Handler.
func ExampleServer() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hello world"), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	mirror, err := serve.ParseMirror("https://mirror.example.net/pub/;pri=1;geo=de")
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := serve.New(dir, serve.Options{Mirrors: []serve.Mirror{mirror}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	web := httptest.NewServer(s)
	defer web.Close()
	resp, err := http.Get(web.URL + "/hello.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.Header.Get("Link"))
	fmt.Println(resp.Header.Get("Digest"))
	// Output:
	// <https://mirror.example.net/pub/hello.txt>; rel=duplicate; pri=1; geo=de
	// SHA-256=uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=
}
