package download

import (
	"net/textproto"
	"net/url"
	"strings"
	"testing"

	"braid/metalink"
)

const (
	theirs = "SHA-256=1ed1d1a4b3990443274e9412e999f5daf782e2e863b4cc1a99f540c263d03e61"
	others = "SHA-256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	weak   = "MD5=d41d8cd98f00b204e9800998ecf8427e"
)

// chained returns a chain of answers: a URL, then fields, each on its own line.
func chained(t *testing.T, chain ...string) (hops []metalink.Hop) {
	t.Helper()
	for i, text := range chain {
		at, fields, _ := strings.Cut(text, "\n")
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		h := metalink.Hop{URL: u, Status: 302, Header: map[string][]string{}}
		if i == len(chain)-1 {
			h.Status = 200
		}
		for field := range strings.Lines(fields) {
			name, value, _ := strings.Cut(strings.TrimSpace(field), ": ")
			name = textproto.CanonicalMIMEHeaderKey(name)
			h.Header[name] = append(h.Header[name], value)
		}
		hops = append(hops, h)
	}
	return hops
}

// Proves for each chain the nature of the last answer, whether its first bytes may make it a document, and
// which digests are evidence for the file (rule 64, C2, C5).
func TestResolve_C2_C4_Rule64(t *testing.T) {
	const (
		typ  = "\nContent-Type: application/metalink4+xml"
		torr = "\nContent-Type: application/x-bittorrent; x=y"
		sha  = "\nDigest: " + theirs
		not  = "\nDigest: " + others
		md5  = "\nDigest: " + weak
		link = "\nLink: <http://m.example/f>; rel=duplicate"
		a    = "http://a.example/f"
		as   = "https://a.example/f"
		b    = "http://b.example/f"
		c    = "http://c.example/f"
		m    = "http://m.example/f"
	)
	for name, tt := range map[string]struct {
		typed   string // by the user; empty: the first of the chain
		chain   []string
		as      role
		edit    func(*Request)
		nature  nature
		may     bool   // the first bytes may be those of a document
		claims  string // algorithms of the evidence
		mirrors int
		wrong   bool
	}{
		"a file":     {chain: []string{a + sha + link}, may: true, claims: "sha-256", mirrors: 1},
		"a document": {chain: []string{a + typ}, nature: aDocument, may: true},
		"a torrent":  {chain: []string{a + torr}, nature: aDocument, may: true},
		"a document with its own digest": {chain: []string{a + typ + sha + link}, nature: aDocument, may: true,
			claims: "sha-256", mirrors: 1},
		"the asked server redirects itself": {chain: []string{a, a + "2" + typ}, nature: aDocument, may: true},
		"with Links":                        {chain: []string{a + link, a + "2" + typ}, nature: aDocument, may: true},
		"with a weak digest": {chain: []string{a + md5, a + "2" + typ}, nature: aDocument, may: true,
			claims: "md5"},
		"with a strong digest": {chain: []string{a + sha, a + "2" + typ}, nature: anotherFile, claims: "sha-256", wrong: true},
		"http becomes https":   {chain: []string{a, as + typ}, nature: aDocument, may: true},
		"https becomes http":   {chain: []string{as, a + typ}, nature: anotherFile, wrong: true},
		"another port":         {chain: []string{a, "http://a.example:81/f" + typ}, nature: anotherFile, wrong: true},
		"another server":       {chain: []string{a, b + typ}, nature: anotherFile, wrong: true},
		"and back":             {chain: []string{a, b, a + "2" + typ}, nature: aDocument, may: true},

		"a redirect with a digest to a document": {chain: []string{a + sha + link, m + typ}, nature: anotherFile,
			claims: "sha-256", mirrors: 1, wrong: true},
		"which has a digest, too": {chain: []string{a + sha + link, m + typ + not + link},
			nature: anotherFile, claims: "sha-256", mirrors: 1, wrong: true},
		"over https": {chain: []string{as + sha + link, m + typ}, nature: anotherFile,
			claims: "sha-256", mirrors: 1, wrong: true},
		"a redirect with a digest to a file":   {chain: []string{a + sha + link, m}, claims: "sha-256", mirrors: 1},
		"a redirect with a Link to a document": {chain: []string{a + link, m + typ}, nature: anotherFile, wrong: true},
		"with the mirror's own Link and digest": {chain: []string{a + link, m + typ + link + sha}, nature: anotherFile,
			wrong: true},

		"the Metalink server after a plain redirect": {chain: []string{a, b + link + sha + typ}, nature: aDocument,
			may: true, claims: "sha-256", mirrors: 1},
		"and what it redirects to on its own host": {chain: []string{a, b + link + sha, b + "2" + typ},
			nature: anotherFile, claims: "sha-256", mirrors: 1, wrong: true},
		"and a mirror of it": {chain: []string{a, b + link + sha, c + typ}, nature: anotherFile,
			claims: "sha-256", mirrors: 1, wrong: true},
		"none after a redirect with a weak digest": {chain: []string{a + md5, b + link + sha + typ},
			nature: anotherFile, claims: "md5", wrong: true},

		"the URL names a document": {
			typed: a + ".meta4", chain: []string{a + ".meta4" + sha, m + typ}, nature: aDocument, may: true, claims: "sha-256",
		},
		"the first answer is typed as one": {chain: []string{a + typ + sha, m}, nature: aDocument, may: true, claims: "sha-256"},
		"without documents":                {chain: []string{a, b + typ}, edit: func(r *Request) { r.NoMetalink = true }},
		"without documents and Links": {chain: []string{a + sha + link},
			edit: func(r *Request) { r.NoMetalink = true }, claims: "sha-256"},
		"a document is at work": {chain: []string{a + sha + typ}, as: asMirror,
			edit: func(r *Request) { r.Described = &Described{} }},

		"a mirror":            {chain: []string{m + sha + link}, as: asMirror},
		"a mirror's document": {chain: []string{m + typ}, as: asMirror, nature: anotherFile, wrong: true},
		"a mirror's, and its URL names one": {typed: a, chain: []string{m + ".meta4" + typ}, as: asMirror,
			nature: anotherFile, wrong: true},
		"a stand-in":            {typed: a, chain: []string{m + sha + link}, as: asMirror},
		"a stand-in's document": {typed: a, chain: []string{m + typ}, as: asMirror, nature: anotherFile, wrong: true},

		"a mirror's own digest after a Link":     {chain: []string{a + link, m + sha}},
		"a mirror's own digest after a weak one": {chain: []string{a + md5, m + sha}, claims: "md5"},
		"a mirror's other digest": {chain: []string{a + link + sha, m + not}, claims: "sha-256",
			mirrors: 1, wrong: true},
		"the same, without a Link":        {chain: []string{a + sha, m + not}, claims: "sha-256", wrong: true},
		"a digest after a plain redirect": {chain: []string{a, b + sha}, claims: "sha-256"},
		"an error page":                   {chain: []string{a + sha, b}, claims: "sha-256"},
	} {
		t.Run(name, func(t *testing.T) {
			hops := chained(t, tt.chain...)
			r := Request{URL: hops[0].URL}
			if tt.typed != "" {
				r.URL = chained(t, tt.typed)[0].URL
			}
			if tt.edit != nil {
				tt.edit(&r)
			}
			x, err := r.resolve(hops, tt.as, footing{})
			if err != nil {
				t.Fatal(err)
			}
			var claims []string
			for _, c := range x.file.Claims {
				claims = append(claims, c.Digest.Algorithm().String())
			}
			if got := strings.Join(claims, " "); x.nature != tt.nature || got != tt.claims ||
				len(x.file.Mirrors) != tt.mirrors || (x.wrong != nil) != tt.wrong {
				t.Errorf("nature %d, claims %q, %d mirrors, wrong: %v", x.nature, got, len(x.file.Mirrors), x.wrong)
			}
			if may := r.mayReplace(hops, tt.as); r.follows() && may != tt.may {
				t.Errorf("may be a document: %v", may)
			}
		})
	}
}
