package cli

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"braid/internal/test/mirrortest"
)

// TestDaemonSelects: a number that a document does not have is an error, and never another file, or none.
func TestDaemonSelects(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1<<10, 3), mirrortest.Name("a.iso"))
	d := newDaemonRun(t)
	d.start()
	document := fmt.Sprintf(`<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a"><url>%s</url></file></metalink>`, s.URL)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, document) }))
	defer site.Close()
	for _, numbers := range []string{"2", "2-3"} {
		status := d.status(d.add(site.URL+"/a.meta4", map[string]string{"select-file": numbers}))
		if message := fmt.Sprint(status["errorMessage"]); status["status"] != "error" ||
			!strings.Contains(message, "the document has") {
			t.Errorf("%s of one file: %v", numbers, status)
		}
		_, failure := d.call("aria2.addMetalink", base64.StdEncoding.EncodeToString([]byte(document)),
			map[string]string{"select-file": numbers})
		if !strings.Contains(failure, "has no file "+numbers) {
			t.Errorf("%s: %q", numbers, failure)
		}
	}
	if left, err := os.ReadDir(d.root); err != nil || len(left) > 0 {
		t.Errorf("%v came, %v", left, err)
	}
}
