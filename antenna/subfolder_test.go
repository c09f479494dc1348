package antenna

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestReleasesInFolders checks that the sub-folders of an index page are versions for a template with a field in the name
// of a folder, and that they are nothing to other watches.
func TestReleasesInFolders(t *testing.T) {
	for name, page := range map[string]func(versions []string) string{
		"HTML": func(versions []string) string {
			text := "<html><title>Index of /pub/tool/</title><pre><a href=\"../\">../</a>\n<a href=\"docs/\">docs/</a>  " +
				"01-Dec-1999 12:00  -\n"
			for _, v := range versions {
				text += `<a href="` + v + `/">` + v + "/</a>  01-Dec-1999 12:00  -\n"
			}
			return text + `<a href="README">README</a>  01-Dec-1999 12:00  9` + "\n</pre></html>"
		},
		"JSON": func(versions []string) string {
			text := `[{"name":"docs","type":"directory","mtime":"Wed, 01 Dec 1999 12:00:00 GMT"}`
			for _, v := range versions {
				text += `,{"name":"` + v + `","type":"directory","mtime":"Wed, 01 Dec 1999 12:00:00 GMT"}`
			}
			return text + `,{"name":"README","type":"file","mtime":"Wed, 01 Dec 1999 12:00:00 GMT","size":9}]`
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			w, j := newWorld(t), &journal{}
			versions := []string{"1.2.10", "1.2.9"}
			w.sites["files.example"] = func(*http.Request) *http.Response { return says(200, page(versions)) }
			a := w.antenna(j)
			a.Feeds = []Feed{{Name: "folder", URL: "https://files.example/pub/tool/", Every: time.Hour}}
			a.Watches = []Watch{
				{Name: "tool", Releases: &Releases{Template: templateOf(t,
					"https://files.example/pub/tool/{version}/tool-{version}.tar.xz")}},
				{Name: "all", URL: "https://files.example/pub/**", Glob: true},
			}
			w.later(3*time.Hour, func() { versions = append(versions, "1.3.0") })
			watchFor(t, a, j, 5*time.Hour)
			var got []string
			for _, u := range j.got() {
				got = append(got, u.URL)
			}
			slices.Sort(got)
			const want = "https://files.example/pub/tool/1.2.10/tool-1.2.10.tar.xz " +
				"https://files.example/pub/tool/1.3.0/tool-1.3.0.tar.xz https://files.example/pub/tool/README"
			if text := strings.Join(got, " "); text != want {
				t.Errorf("%s: updates to %s", name, text)
			}
		})
	}
}
