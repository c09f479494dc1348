package job

import (
	"net/http"
	"net/url"
	"os"

	"braid/address"
)

// githubAPI is the only origin that gets the token of GITHUB_TOKEN.
const githubAPI = "https://api.github.com/"

// ForgeToken returns the token in GITHUB_TOKEN if u, the URL of a feed, is at the API of that forge. It returns "" for
// other URLs, and if u or fields contain credentials.
func ForgeToken(fields http.Header, u *url.URL) string {
	token := os.Getenv("GITHUB_TOKEN")
	if !IsToken(token) || !address.SameOrigin(u.String(), githubAPI) || u.User != nil || fields.Get("Authorization") != "" {
		return ""
	}
	return token
}

// TokenHint is the hint for a token that the API refuses.
const TokenHint = "GITHUB_TOKEN is wrong or has expired: replace it, or unset it"

// AddForgeToken returns fields, the header fields for a request for a feed at u, with the token in GITHUB_TOKEN added
// if ForgeToken returns it. With the token, the API accepts more requests per hour.
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
