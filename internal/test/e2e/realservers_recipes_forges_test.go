//go:build realservers

package e2e

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The recipes that look for digests.
const (
	recipeOfPublishers = "One file of GitHub, PyPI or Hugging Face"
	recipeOfKernel     = "A kernel with its signature"
)

// publishers are a forge, a registry and a hub with one file each, and what they say about it, in the shapes of theirs.
func publishers() map[string]http.Handler {
	const (
		asset = "/example/tool/releases/download/v1.2/tool_1.2_linux_amd64.tar.gz"
		wheel = "/packages/aa/bb/cc/example-1.2-py3-none-any.whl"
		model = "/example/small/resolve/main/model.safetensors"
	)
	tool, wheels, heavy := strings.Repeat("tool ", 10_000), strings.Repeat("wheel ", 10_000), strings.Repeat("weights ", 50_000)
	sum := func(body string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(body))) }
	at := func(path string, h http.HandlerFunc) http.Handler {
		mux := http.NewServeMux()
		mux.HandleFunc(path, h)
		return mux
	}
	serves := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body))
		}
	}
	says := func(format string, values ...any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, format, values...)
		}
	}
	return map[string]http.Handler{
		"github.com": at(asset, serves(tool)),
		"api.github.com": at("/repos/example/tool/releases/tags/v1.2", says(`{"assets":[{"state":"uploaded","digest":"sha256:%s",
"browser_download_url":"https://github.com%s"}]}`, sum(tool), asset)),
		"files.pythonhosted.org": at(wheel, serves(wheels)),
		"pypi.org": at("/pypi/example/1.2/json",
			says(`{"urls":[{"url":"https://files.pythonhosted.org%s","digests":{"sha256":"%s"}}]}`,
				wheel, sum(wheels))),
		"huggingface.co": at(model, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Linked-Etag", `"`+sum(heavy)+`"`)
			w.Header().Set("X-Linked-Size", strconv.Itoa(len(heavy)))
			http.Redirect(w, r, "https://cdn.example.net/weights", http.StatusFound)
		}),
	}
}
