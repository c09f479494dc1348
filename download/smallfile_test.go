package download_test

import (
	"fmt"
	"strings"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
)

// A small file on many places that answer a range with the whole file costs one request, because the whole
// file was requested. Proves S15.
func TestSmallFileWithoutRanges_S15(t *testing.T) {
	t.Parallel()
	s := mirrortest.New(t, made(1000, 1), mirrortest.IgnoreRange())
	var urls strings.Builder
	for i := range 18 {
		fmt.Fprintf(&urls, "<url>%s?%d</url>", s.URL, i)
	}
	text := fmt.Sprintf(`<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a"><size>1000</size><hash type="sha-256">%s</hash>%s</file></metalink>`,
		s.Digest().Hex(), urls.String())
	d, err := download.ReadDocument(strings.NewReader(text), "x.meta4")
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(t, s.URL)
	r.req.URL = nil
	if r.req, err = d.Request(d.Files.At(0), r.req); err != nil {
		t.Fatal(err)
	}
	if _, err := r.get(); err != nil {
		t.Fatal(err)
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}
