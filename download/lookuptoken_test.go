package download_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"braid/download"
)

// TestLookupForgeToken: a token or a field for the forge's own host for questions goes there, and neither elsewhere nor
// after a redirect.
func TestLookupForgeToken_Rule27(t *testing.T) {
	file := book()
	answer := released(`"sha256:`+sum256(file)+`"`, "")
	for _, tt := range []struct {
		name     string
		answers  []string
		host     string
		verified bool
		tokens   string
	}{
		{"question", []string{releaseAsks, answer}, "api.github.com", true, releaseAsks},
		{"of another host", []string{releaseAsks, answer}, "github.com", true, ""},
		{"redirect away", []string{releaseAsks, ">https://mirror.example/api", "mirror.example/api", answer},
			"api.github.com", false, releaseAsks},
		{"redirect within", []string{releaseAsks, ">https://api.github.com/other", "api.github.com/other", answer},
			"api.github.com", false,
			releaseAsks},
		{"redirect within, without a token", []string{releaseAsks, ">https://api.github.com/other",
			"api.github.com/other", answer}, "", true, ""},
		{"expired", []string{releaseAsks, "401 to tokens: " + answer}, "api.github.com", true, releaseAsks},
		{"list", []string{releaseAsks, released("null", releaseList), releaseList, ">https://" + delivered + "list",
			delivered + "list",
			sum256(file) + "  tool.tgz\n"}, "api.github.com", true, releaseAsks},
	} {
		for kind, set := range map[string]func(c *download.Client){
			"token": func(c *download.Client) { c.ForgeTokens = map[string]string{tt.host: "s3cret"} },
			"field": func(c *download.Client) { c.ForgeHeader = fieldFor(tt.host) },
		} {
			t.Run(tt.name+", "+kind, func(t *testing.T) {
				t.Parallel()
				s := newForgeSite(t, append(tt.answers, releaseFile, file)...)
				res, _, err := s.get("https://"+releaseFile, func(c *download.Client, r *download.Request) {
					set(c)
					r.Access.Header = map[string][]string{"User-Agent": {"me"}, "Accept": {"application/x-iso"}}
				})
				if tokens := strings.Join(s.tokens, " "); err != nil || res.Proof.Verified() != tt.verified ||
					tokens != tt.tokens {
					t.Errorf("%v, %v, token to %q, want %q", res.Proof, err, tokens, tt.tokens)
				}
				if told := strings.Contains(res.Looked.Where(), "its token was rejected"); told != (tt.name == "expired") {
					t.Errorf("looked at %s", res.Looked.Where())
				}
			})
		}
	}
	// What the user sends to the file's server is not for the forge.
	s := newForgeSite(t, releaseFile, file, releaseAsks, answer)
	_, _, err := s.get("https://"+releaseFile, func(_ *download.Client, r *download.Request) {
		r.Access.Header = map[string][]string{"Authorization": {"Bearer mine"}}
	})
	if slices.Contains(s.tokens, releaseAsks) || !slices.Contains(s.tokens, releaseFile) || err != nil {
		t.Errorf("secrets to %v, %v", s.tokens, err)
	}
}

// fieldFor returns credentials for questions to a host.
func fieldFor(host string) func(*url.URL) (map[string][]string, error) {
	return func(u *url.URL) (map[string][]string, error) {
		if u.Host != host {
			return nil, nil
		}
		return map[string][]string{"Authorization": {"Bearer s3cret"}}, nil
	}
}

// TestLookupForgeOwn: a row of the user's proves files of its host by its API, to which only fields for that host go: no
// token for the host of a built-in row.
func TestLookupForgeOwn_Rule77(t *testing.T) {
	t.Parallel()
	own := strings.Replace(releaseFile, "github.com", "mirror.example", 1)
	file := book()
	answer := strings.ReplaceAll(released(`"sha256:`+sum256(file)+`"`, ""), "github.com", "mirror.example")
	row, err := download.NewForge("mine", map[string][]string{"like": {"GitHub"}, "host": {"mirror.example"},
		"api": {"https://api.github.com"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		rows   []*download.Forge
		field  string // the host of the fields
		want   string
		tokens string
	}{
		{nil, "api.github.com", "unverified", ""},
		{[]*download.Forge{row}, "", "sha-256 from api.github.com over https", ""},
		{[]*download.Forge{row}, "mirror.example", "sha-256 from api.github.com over https", ""},
		{[]*download.Forge{row}, "api.github.com", "sha-256 from api.github.com over https", releaseAsks},
	} {
		s := newForgeSite(t, own, file, releaseAsks, answer)
		res, _, err := s.get("https://"+own, func(c *download.Client, _ *download.Request) {
			c.Forges, c.ForgeHeader = tt.rows, fieldFor(tt.field)
			c.ForgeTokens = map[string]string{"api.github.com": "other", "mirror.example": "other"}
		})
		if tokens := strings.Join(s.tokens, " "); err != nil || res.Proof.String() != tt.want || tokens != tt.tokens {
			t.Errorf("%d rows, fields for %s: %v, %v, tokens to %q, want %s, %q", len(tt.rows), tt.field, res.Proof, err, tokens,
				tt.want, tt.tokens)
		}
	}
}
