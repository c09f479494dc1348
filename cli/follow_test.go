package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestFollowTooMany checks that a page with too many files is refused. A part of it may lack the newest version.
func TestFollowTooMany(t *testing.T) {
	page := strings.Builder{}
	fmt.Fprint(&page, "<title>Index of /</title>")
	for i := range mostRecords + 1 {
		fmt.Fprintf(&page, "<a href=t-1.%d>t</a>\n", i)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, page.String())
	}))
	defer s.Close()
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"braid", "follow", s.URL + "/"}, streams{out: &out, err: &errs})
	if want := fmt.Sprintf("braid: follow %s/: more than 50000 files\n", s.URL); code != exitLimit || out.Len() > 0 || errs.String() != want {
		t.Errorf("%d: %s%s", code, out.String(), errs.String())
	}
}
