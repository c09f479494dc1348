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

// Clients receive options and URIs, and send them back to retry a download. A secret in them is replaced by a
// placeholder, which consists of stands and the GID of the entry. When a client sends the placeholder, the secret is
// restored, but only for the servers that it was set for.
const stands = "secret-of-"

func placeholder(g queue.GID) string { return stands + g.String() }

// conceal replaces the secrets in options by placeholders. g is the GID of the entry, or 0 for the global options.
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

// maskedAll replaces the secrets in list, a list of URIs separated by between, by placeholders for the entry g.
func maskedAll(list, between string, g queue.GID) string {
	uris := strings.Split(list, between)
	for i, uri := range uris {
		uris[i] = masked(uri, g)
	}
	return strings.Join(uris, between)
}

// secretField reports whether a header field with that name may be secret. Only a few fields are known not to be secret.
func secretField(name string) bool {
	name = strings.TrimSpace(name)
	return !web.ForAnyServer(name) && !strings.EqualFold(name, "Referer")
}

// masked returns uri with its password replaced by a placeholder for the entry g. If uri has a user name but no
// password, the user name is replaced, because it may be a token.
func masked(uri string, g queue.GID) string {
	at := strings.LastIndexByte(uri, '@')
	if at < 0 {
		return uri
	}
	u, err := url.Parse(uri)
	if err != nil || u.Host == "" && !metainfo.IsMagnet(uri) { // other programs may be able to parse it
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

// secrets restores the secrets that clients send back as placeholders. It finds the secrets in the options and URIs of
// the entries and in the global options.
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

// reveal returns value, the value of the option name for a download of uris, with its secrets restored.
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

// revealHeader returns value, header fields for a download of uris, with their secrets restored. The n-th field of a
// name gets the secret from the n-th field of that name in the entry's options.
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

// revealURI returns the URI s, parsed as u, with its password restored.
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

// schemes lists the schemes of URIs that can be downloaded.
var schemes = append(address.SchemeNames(), "magnet")

// knownURIs returns the absolute URIs in list, with their passwords restored. A URI with another scheme is an error.
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

// mayHave reports whether a download of uris may get the secrets of the entry g. The second list has the URIs of g.
// Secrets are sent to the server of the first URI, so the first URIs of both lists must be on the same server, and all
// of uris on servers of g. GID 0 means the global options, which apply to every download.
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
