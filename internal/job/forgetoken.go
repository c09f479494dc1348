package job

import (
	"net/http"
	"net/url"
	"os"

	"braid/address"
)

// githubAPI is the only origin that gets the token of GITHUB_TOKEN.
const githubAPI = "https://api.github.com/"

// ForgeToken returns the token for the API of the forge of a feed at u (GITHUB_TOKEN). It returns "" if u is not at
// that API, or if u or the fields have credentials.
func ForgeToken(fields http.Header, u *url.URL) string {
	token := os.Getenv("GITHUB_TOKEN")
	if !IsToken(token) || !address.SameOrigin(u.String(), githubAPI) || u.User != nil || fields.Get("Authorization") != "" {
		return ""
	}
	return token
}

// TokenHint is the next step when the API refuses the token.
const TokenHint = "GITHUB_TOKEN is wrong or has expired: replace it, or unset it"

// AddForgeToken returns the fields of a request for a feed at u. It adds the token for the API of the feed's forge
// (GITHUB_TOKEN), unless fields have credentials. With a token an API accepts more requests an hour.
func AddForgeToken(fields http.Header, u *url.URL) http.Header {
	token := ForgeToken(fields, u)
	if token == "" {
		return fields
	}
	fields = fields.Clone()
	if fields == nil {
		fields = http.Header{}
	}
	fields.Set("Authorization", "Bearer "+token)
	return fields
}
