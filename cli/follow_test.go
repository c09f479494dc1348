package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestFollowTooMany checks that a page with too many files, or with too long names, is refused. A part of it may lack the
// newest version.
func TestFollowTooMany(t *testing.T) {
	for name, long := range map[string]int{"files": 0, "names": 4 << 10} {
		t.Run(name, func(t *testing.T) {
			page := strings.Builder{}
			fmt.Fprint(&page, "<title>Index of /</title>")
			for i := range mostRecords + 1 {
				if fmt.Fprintf(&page, "<a href=t%s-1.%d>t</a>\n", strings.Repeat("x", long), i); page.Len() > 2*mostOfURLs {
					break
				}
			}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, page.String())
			}))
			defer s.Close()
			var out, errs bytes.Buffer
			code := run(t.Context(), []string{"braid", "follow", s.URL + "/"}, streams{out: &out, err: &errs})
			want := fmt.Sprintf("braid: follow %s/: the page names more than 50000 files, or their URLs have more than 8 MiB\n", s.URL)
			if code != exitLimit || out.Len() > 0 || errs.String() != want {
				t.Errorf("%d: %s%s", code, out.String(), errs.String())
			}
		})
	}
}
