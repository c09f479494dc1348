package serve

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Under http.StripPrefix the URLs of the server have the prefix, and a mirror that is the server itself is not named.
func TestStripPrefix_C2_V5(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "pub/a b.iso", content)
	var mirrors []Mirror
	web := httptest.NewUnstartedServer(nil)
	self := "http://" + web.Listener.Addr().String() + "/files/of us/"
	for _, text := range []string{self, "http://mirror.example/x/"} {
		m, err := ParseMirror(strings.ReplaceAll(text, " ", "%20"))
		if err != nil {
			t.Fatal(err)
		}
		mirrors = append(mirrors, m)
	}
	s, err := New(dir, Options{Meta4: true, Mirrors: mirrors})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	web.Config.Handler = http.StripPrefix("/files/of us", s)
	web.Start()
	t.Cleanup(web.Close)
	w := &site{t, s, dir, web.URL, newBook()}
	a := w.get("/files/of%20us/pub/a%20b.iso")
	if links := strings.Join(a.header.Values("Link"), "\n"); a.status != 200 || strings.Contains(links, web.URL) ||
		!strings.Contains(links, "<http://mirror.example/x/pub/a%20b.iso>") {
		t.Errorf("%d, links are %s", a.status, links)
	}
	f := parse(t, w.get("/files/of%20us/pub/a%20b.iso.meta4"))
	var places []string
	for _, m := range f.Mirrors {
		places = append(places, m.URL.String())
	}
	if got, want := strings.Join(places, " "),
		"http://mirror.example/x/pub/a%20b.iso "+web.URL+"/files/of%20us/pub/a%20b.iso"; got != want {
		t.Errorf("the document names %s, want %s", got, want)
	}
}
