package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"braid/internal/render"
	"braid/internal/test/mirrortest"
)

func TestProbe(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(2<<20, 4), mirrortest.Name("a.iso"), mirrortest.Digest(), mirrortest.ETag(`"e"`),
		mirrortest.Link(
			`<http://m2/a.iso?key=s3cret>; rel=duplicate; pri=2; geo=jp`,
			`<http://m1/a.iso>; rel=duplicate; pri=3; pref; depth=2`,
			`</a.meta4>; rel=describedby; type="application/metalink4+xml"; name="n"`, `<gopher://h/>; rel=duplicate`,
		))
	code, out, err := command(t, "probe", s.URL)
	if code != exitDone || err != "" {
		t.Fatalf("exit code %d, %q", code, err)
	}
	var at []int
	for _, want := range []string{
		"200 OK  " + s.URL, "2 MiB (2097152 bytes)", "ranges   yes", `"e"`,
		"sha-256  " + s.Digest().Hex() + " from Digest over http\n",
		"mirrors: 2\n", "  1  pri=3  geo=    depth=2  pref  http://m1/a.iso\n",
		"  2  pri=2  geo=JP  depth=0        http://m2/a.iso?key=***\n",
		"documents: 1\n", "application/metalink4+xml  http://" + s.Addr + "/a.meta4  n\n", "ignored: 1\n", "gopher://h/",
		"no document  http://" + s.Addr + "/a.meta4 is not used: ",
	} {
		i := strings.Index(out, want)
		if i < 0 || len(at) > 0 && i < at[len(at)-1] {
			t.Errorf("no %q, or not in its place, in\n%s", want, out)
		}
		at = append(at, i)
	}
	for _, q := range s.Requests() {
		if q.Path == "/a.iso" && q.Sent > 0 {
			t.Errorf("%d bytes of the file were sent", q.Sent)
		}
	}
	_, out, _ = command(t, "probe", "--json", s.URL)
	var e render.OfferEvent
	if err := json.Unmarshal([]byte(out), &e); err != nil || strings.Count(out, "\n") != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	if e.Event != "offer" || *e.Size != 2<<20 || !*e.Ranges || e.ETag != `"e"` || len(e.Claims) != 1 ||
		len(e.Mirrors) != 2 || !e.Mirrors[0].Pref ||
		len(e.Documents) != 1 || e.IgnoredCount != 1 || len(e.Hops) != 1 || e.Hops[0].Status != 200 {
		t.Errorf("%+v", e)
	}
}

func TestProbeFails(t *testing.T) {
	s := mirrortest.New(t, []byte("x"), mirrortest.Status(404))
	if code, out, err := command(t, "probe", s.URL); code != exitRefused || out != "" ||
		!strings.HasPrefix(err, "braid: probe "+s.URL+": ") {
		t.Errorf("exit code %d, %q, %q", code, out, err)
	}
}
