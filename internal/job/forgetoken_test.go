package job

import (
	"net/http"
	"net/url"
	"testing"
)

// TestForgeToken_Rule27: the token goes to the API of GitHub, and nowhere else.
func TestForgeToken_Rule27(t *testing.T) {
	for text, want := range map[string]bool{
		"https://api.github.com/repos/a/b/releases":      true,
		"https://API.github.com:443/repos/a/b":           true,
		"http://api.github.com/repos/a/b":                false,
		"https://api.github.com:8443/repos/a/b":          false,
		"https://github.com/a/b/releases.atom":           false,
		"https://api.github.com.example.org/repos":       false,
		"https://example.org/https://api.github.com/":    false,
		"https://me:pw@api.github.com/repos/a/b":         false,
		"https://objects.githubusercontent.com/file.zip": false,
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("GITHUB_TOKEN", "ghp_token")
		given := http.Header{"Accept": {"x"}}
		got := AddForgeToken(given, u)
		if got.Get("Accept") != "x" || (got.Get("Authorization") == "Bearer ghp_token") != want || len(given) != 1 {
			t.Errorf("%s: %v", text, got)
		}
		if got := AddForgeToken(http.Header{"Authorization": {"own"}}, u); got.Get("Authorization") != "own" {
			t.Errorf("%s: the user's own credentials were replaced", text)
		}
		if got := AddForgeToken(nil, u); (got.Get("Authorization") != "") != want {
			t.Errorf("%s: %v", text, got)
		}
		for _, bad := range []string{"", "two words", "a\nb"} {
			t.Setenv("GITHUB_TOKEN", bad)
			if got := AddForgeToken(nil, u); got.Get("Authorization") != "" {
				t.Errorf("%q was sent", bad)
			}
		}
	}
}
