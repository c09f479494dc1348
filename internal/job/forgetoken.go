package job

import (
	"net/http"
	"net/url"
	"os"

	"braid/address"
)

// githubAPI is the only origin that gets the token of GITHUB_TOKEN.
const githubAPI = "https://api.github.com/"

// AddForgeToken returns the fields of a request for a feed at u, with the token for the API of its forge (GITHUB_TOKEN)
// unless they have credentials. An API accepts more requests an hour with a token.
func AddForgeToken(fields http.Header, u *url.URL) http.Header {
	token := os.Getenv("GITHUB_TOKEN")
	if !IsToken(token) || !address.SameOrigin(u.String(), githubAPI) || u.User != nil || fields.Get("Authorization") != "" {
		return fields
	}
	fields = fields.Clone()
	if fields == nil {
		fields = http.Header{}
	}
	fields.Set("Authorization", "Bearer "+token)
	return fields
}
