package indexpage

import (
	"net/url"
	"strings"

	"braid/address"
)

// Below returns the URL that a link in the index of a folder leads to, without user information. It reports false
// unless that is the URL of a file below the folder on the same server: scheme, host and port are the same, and the
// path is that of the folder with segments after it. The folder's URL ends with a slash.
func Below(folder *url.URL, href string) (*url.URL, bool) {
	u, err := folder.Parse(strings.Trim(href, " \t\r\n"))
	if err != nil || u.Opaque != "" || u.Scheme != folder.Scheme || address.HostPort(u) != address.HostPort(folder) ||
		u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, false
	}
	if u.User != nil && (folder.User == nil || u.User.String() != folder.User.String()) {
		return nil, false
	}
	rest, ok := strings.CutPrefix(u.Path, folder.Path)
	if !ok || !strings.HasSuffix(folder.Path, "/") || slashes(u) != slashes(folder)+strings.Count(rest, "/") {
		return nil, false // an escaped slash does not separate segments
	}
	for segment := range strings.SplitSeq(rest, "/") {
		if !plain(segment) {
			return nil, false
		}
	}
	u.User = nil
	return u, true
}

func slashes(u *url.URL) int { return strings.Count(u.EscapedPath(), "/") }

// plain reports whether a segment may be the name of a file or a sub-folder. The segment after the slash at the end of a
// folder's URL is empty, so a folder is no file.
func plain(segment string) bool {
	control := func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }
	return segment != "" && segment != "." && segment != ".." && strings.IndexFunc(segment, control) < 0
}

// folderOf returns the folder of a page, or nil if the URL of the page is not an http or https URL.
func folderOf(page string) *url.URL {
	u, err := url.Parse(page)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil
	}
	folder := u.ResolveReference(&url.URL{Path: "./"})
	if folder.Path == "" {
		folder.Path = "/"
	}
	return folder
}
