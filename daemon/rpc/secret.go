package rpc

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"braid/address"
	"braid/daemon/queue"
	"braid/internal/mask"
	"braid/internal/web"
	"braid/metalink/metainfo"
	"braid/verify"
)

// Clients get options and URIs back, because they retry a download by adding it again with these. Each secret is
// replaced by a placeholder with the GID of the entry. If a client sends the placeholder, the secret is restored, but
// only for the servers that the secret was set for.
const stands = "secret-of-"

func placeholder(g queue.GID) string { return stands + g.String() }

// conceal replaces the secrets in the options of an entry by placeholders. Global options have GID 0.
func conceal(options map[string]string, g queue.GID) {
	for name, value := range options {
		switch {
		case value == "":
		case name == "header":
			lines := strings.Split(value, "\n")
			for i, line := range lines {
				if field, _, ok := strings.Cut(line, ":"); ok && secretField(field) {
					lines[i] = field + ": " + placeholder(g)
				}
			}
			options[name] = strings.Join(lines, "\n")
		case strings.HasSuffix(name, "-passwd"), name == "user":
			options[name] = placeholder(g)
		case name == "referer", name == "mirror":
			options[name] = maskedAll(value, "\n", g)
		case name == "bt-tracker":
			options[name] = maskedAll(value, ",", g)
		}
	}
}

// hasSecret reports whether options contain a secret that is sent to the servers of the URIs.
func hasSecret(options map[string]string) bool {
	told := maps.Clone(options)
	conceal(told, 0)
	return told["header"] != options["header"] || told["http-passwd"] != options["http-passwd"] ||
		told["ftp-passwd"] != options["ftp-passwd"] || told["user"] != options["user"]
}

// maskedAll masks each URI of a list separated by between.
func maskedAll(list, between string, g queue.GID) string {
	uris := strings.Split(list, between)
	for i, uri := range uris {
		uris[i] = masked(uri, g)
	}
	return strings.Join(uris, between)
}

// secretField reports whether a header field may be secret. Only a few fields are known not to be secret.
func secretField(name string) bool {
	name = strings.TrimSpace(name)
	return !web.ForAnyServer(name) && !strings.EqualFold(name, "Referer")
}

// masked returns a URI with its password replaced by a placeholder. Without a password the user name, which may be a
// token, is replaced.
func masked(uri string, g queue.GID) string {
	at := strings.LastIndexByte(uri, '@')
	if at < 0 {
		return uri
	}
	u, err := url.Parse(uri)
	if err != nil || u.Host == "" && !metainfo.IsMagnet(uri) { // another program may parse it
		from := strings.IndexByte(uri, ':') + 1
		from += len(uri[from:]) - len(strings.TrimLeft(uri[from:], "/"))
		return uri[:min(from, at)] + placeholder(g) + uri[at:]
	}
	if u.User == nil {
		return uri
	}
	if _, ok := u.User.Password(); ok {
		u.User = url.UserPassword(u.User.Username(), placeholder(g))
	} else {
		u.User = url.User(placeholder(g))
	}
	return u.String()
}

// secrets restores the secrets that clients send back as placeholders. The secrets are in the options and URIs of the
// queue's entries and in the settings.
type secrets struct{ settings *settings }

// owner returns the options, URIs and GID of the entry that a placeholder in text refers to.
func (k *secrets) owner(text string) (options map[string]string, uris []string, g queue.GID, ok bool) {
	_, rest, found := strings.Cut(text, stands)
	if !found || len(rest) < 16 {
		return nil, nil, 0, false
	}
	if rest[:16] == queue.GID(0).String() {
		return k.settings.all(), nil, 0, true
	}
	if g, ok = queue.ParseGID(rest[:16]); ok {
		var e queue.Entry
		e, ok = k.settings.queue.Entry(g)
		options, uris = e.Options, e.URIs
	}
	return options, uris, g, ok
}

func lost(what string) error {
	return refuse("The secret in %s is no longer known, or is for another server.", what)
}

// reveal restores the secrets in an option of a download with these URIs.
func (k *secrets) reveal(name, value string, uris []string) (string, error) {
	if !strings.Contains(value, stands) {
		return value, nil
	}
	if name == "header" {
		return k.revealHeader(value, uris)
	}
	options, from, g, ok := k.owner(value)
	conceals := map[string]string{name: options[name]}
	conceal(conceals, g)
	if !ok || conceals[name] != value || !mayHave(g, uris, from) {
		return "", lost("the option '--" + name + "'")
	}
	return options[name], nil
}

// revealHeader restores the secrets in header fields. The n-th field of a name gets the secret of the n-th field of
// that name.
func (k *secrets) revealHeader(value string, uris []string) (string, error) {
	lines, seen := strings.Split(value, "\n"), map[string]int{}
	for i, line := range lines {
		field, word, _ := strings.Cut(line, ":")
		if !strings.HasPrefix(strings.TrimSpace(word), stands) {
			continue
		}
		options, from, g, ok := k.owner(line)
		var had []string
		for old := range strings.SplitSeq(options["header"], "\n") {
			if name, _, _ := strings.Cut(old, ":"); strings.EqualFold(name, field) {
				had = append(had, old)
			}
		}
		n := seen[strings.ToLower(field)]
		if seen[strings.ToLower(field)]++; !ok || n >= len(had) || !mayHave(g, uris, from) {
			return "", lost("the header field " + field)
		}
		lines[i] = had[n]
	}
	return strings.Join(lines, "\n"), nil
}

// revealURI restores the password in a URI.
func (k *secrets) revealURI(s string, u *url.URL) (string, error) {
	if u.User == nil || !strings.Contains(u.User.String(), stands) {
		return s, nil
	}
	_, uris, g, ok := k.owner(u.User.String())
	i := slices.IndexFunc(uris, func(uri string) bool { return masked(uri, g) == s })
	if !ok || i < 0 {
		return "", lost("the URI for " + u.Host)
	}
	return uris[i], nil
}

// schemes lists the URI schemes that can be downloaded.
var schemes = append(address.SchemeNames(), "magnet")

// knownURIs returns the absolute URIs in list, with masked passwords restored. Another scheme is an error.
func (k *secrets) knownURIs(list []string) (uris []string, err error) {
	for _, s := range list {
		s = strings.TrimSpace(s)
		u, err := url.Parse(s)
		if err != nil || !u.IsAbs() {
			continue
		}
		if !slices.Contains(schemes, strings.ToLower(u.Scheme)) {
			return nil, refuse("%s: unknown protocol; supported are %s", mask.URL(u), strings.Join(schemes, ", "))
		}
		if _, err := verify.OfURL(u); err != nil {
			return nil, refuse("%s: %v", mask.URL(u), err)
		}
		if s, err = k.revealURI(s, u); err != nil {
			return nil, err
		}
		uris = append(uris, s)
	}
	return uris, nil
}

// mayHave reports whether a download of uris may get the secrets of the entry g, which has the URIs of. The secrets are
// sent to the server of the first URI, so uris[0] must be on the server of of[0], and all of uris on servers of of. GID
// 0 stands for the global options, which apply to every download.
func mayHave(g queue.GID, uris, of []string) bool {
	var known []string
	for _, uri := range of {
		known = append(known, server(uri))
	}
	foreign := func(uri string) bool { return !slices.Contains(known, server(uri)) }
	return g == 0 || len(uris) > 0 && len(of) > 0 && server(uris[0]) == known[0] && !slices.ContainsFunc(uris, foreign)
}

func server(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return uri
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}
