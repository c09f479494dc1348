package cli

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"braid/internal/job"
	"braid/internal/stream"
	"braid/source"
)

// TestFeedTokenRefused_Rule27 checks that a feed whose server refuses the token of the forge is read without it, and that
// other fields and credentials of the user are not left out.
func TestFeedTokenRefused_Rule27(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "ghp_token")
	u, err := url.Parse("https://api.github.com/repos/a/b/releases")
	if err != nil {
		t.Fatal(err)
	}
	wrong := &source.Error{Status: http.StatusUnauthorized}
	for name, tt := range map[string]struct {
		bare http.Header
		err  error
		want string
	}{
		"accepted":         {http.Header{"X": {"y"}}, nil, "Bearer ghp_token"},
		"refused":          {http.Header{"X": {"y"}}, wrong, "Bearer ghp_token, "},
		"another error":    {http.Header{"X": {"y"}}, errors.New("no route"), "Bearer ghp_token"},
		"of the user":      {http.Header{"X": {"y"}, "Authorization": {"mine"}}, wrong, "mine"},
		"another response": {http.Header{"X": {"y"}}, &source.Error{Status: http.StatusForbidden}, "Bearer ghp_token"},
	} {
		var said bytes.Buffer
		f := newFeedFlags(streams{err: &said})
		var sent []string
		_, err := f.withOrWithout(job.AddForgeToken(tt.bare, u), tt.bare, u, func(h http.Header) (*stream.Reader, error) {
			if sent = append(sent, h.Get("Authorization")); h.Get("X") != "y" {
				t.Errorf("%s: sent %v", name, h)
			}
			if len(sent) == 1 {
				return nil, tt.err
			}
			return nil, nil
		})
		if got := strings.Join(sent, ", "); got != tt.want {
			t.Errorf("%s: sent %q, want %q", name, got, tt.want)
		}
		again := len(sent) == 2
		if !again && err != tt.err || again != f.tokenRefused || again != strings.Contains(said.String(), job.TokenHint) ||
			strings.Contains(said.String(), "ghp_") {
			t.Errorf("%s: %v, and it says %q", name, err, said.String())
		}
	}
}
