package download_test

import (
	"strings"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/metalink"
	"braid/source/httpsource"
	"braid/verify"
)

// A document about another file, an invalid signature and a missing one are named without further effect
// (rules 46 and 47). The file itself is not requested.
func TestEvidence_Rule46(t *testing.T) {
	t.Parallel()
	const size = 64 << 10
	origin := sized(t, size, mirrortest.Digest())
	other := metalink.File{Name: "file.bin", Size: size, Claims: []verify.Claim{{Digest: sum(t, made(size, 99))}}}
	doc, err := metalink.Format(metalink.Document{Files: []metalink.File{other}})
	if err != nil {
		t.Fatal(err)
	}
	origin.Set(
		mirrortest.Link(`</file.bin.meta4>; rel=describedby; type="application/metalink4+xml"`),
		mirrortest.Link(`</a.asc>; rel=describedby; type="application/pgp-signature"`),
		mirrortest.Link(`</b.asc>; rel=describedby; type="application/pgp-signature"`),
		mirrortest.Document("/file.bin.meta4", metalink.MediaType4, doc),
		mirrortest.Document("/a.asc", "application/pgp-signature", []byte("\x1b[2J")),
		mirrortest.When(isPath("/b.asc"), mirrortest.Status(404)),
	)
	hc := &httpsource.Client{}
	defer hc.CloseIdle()
	client := &download.Client{HTTP: hc}
	req := download.Request{URL: parse(t, origin.URL)}
	offer, err := client.Probe(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	e := client.Evidence(t.Context(), req, offer)
	if e.Err == nil || !strings.HasSuffix(e.Document, "/file.bin.meta4") || !e.File.BestPieces().IsZero() {
		t.Errorf("document %s: %v, pieces %v", e.Document, e.Err, e.File.Pieces)
	}
	if len(e.Signatures) != 2 || e.Signatures[0].Err == nil || e.Signatures[1].Err == nil {
		t.Errorf("signatures: %+v", e.Signatures)
	}
	for _, q := range origin.Requests() {
		if q.Path == "/file.bin" && q.Method != "HEAD" {
			t.Errorf("the file was asked for: %s", q.Method)
		}
	}
}
