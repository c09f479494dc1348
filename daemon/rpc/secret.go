package rpc

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"braid/daemon/queue"
	"braid/internal/web"
	"braid/metalink/metainfo"
)

// A client gets options and URIs back, as it adds a download that failed once more with them. In place of what is
// secret in them there is a word that stands for it: the secret of that entry. Where a client sends it, the secret is
// put in again, for the servers that it was for.
const stands = "secret-of-"

func placeholder(g queue.GID) string { return stands + g.String() }

// conceal replaces the secrets among the options of an entry. Those of all downloads have no entry, and the GID 0.
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

// hasSecret reports whether options have a secret that is sent to whatever server the URIs name.
func hasSecret(options map[string]string) bool {
	told := maps.Clone(options)
	conceal(told, 0)
	return told["header"] != options["header"] || told["http-passwd"] != options["http-passwd"] ||
		told["ftp-passwd"] != options["ftp-passwd"] || told["user"] != options["user"]
}

// maskedAll masks each of several URIs.
func maskedAll(list, between string, g queue.GID) string {
	uris := strings.Split(list, between)
	for i, uri := range uris {
		uris[i] = masked(uri, g)
	}
	return strings.Join(uris, between)
}

// secretField reports whether a header field may be for its server alone. That it is no secret can be told of few.
func secretField(name string) bool {
	name = strings.TrimSpace(name)
	return !web.ForAnyServer(name) && !strings.EqualFold(name, "Referer")
}

// masked is a URI without its password, or without a user name that may be a token.
func masked(uri string, g queue.GID) string {
	at := strings.LastIndexByte(uri, '@')
	if at < 0 {
		return uri
	}
	u, err := url.Parse(uri)
	if err != nil || u.Host == "" && !metainfo.IsMagnet(uri) { // another program may read it
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

// owner is the entry that a text has the placeholder of: its options, its URIs, and its GID.
func (v *visit) owner(text string) (options map[string]string, uris []string, g queue.GID, ok bool) {
	_, rest, found := strings.Cut(text, stands)
	if !found || len(rest) < 16 {
		return nil, nil, 0, false
	}
	if rest[:16] == queue.GID(0).String() {
		return v.all(), nil, 0, true
	}
	if g, ok = queue.ParseGID(rest[:16]); ok {
		var e queue.Entry
		e, ok = v.queue.Entry(g)
		options, uris = e.Options, e.URIs
	}
	return options, uris, g, ok
}

func lost(what string) error {
	return refuse("The secret in %s is not known any more, or is for another server.", what)
}

// reveal puts the secrets into an option that a download of these URIs is to have.
func (v *visit) reveal(name, value string, uris []string) (string, error) {
	if !strings.Contains(value, stands) {
		return value, nil
	}
	if name == "header" {
		return v.revealHeader(value, uris)
	}
	options, from, g, ok := v.owner(value)
	conceals := map[string]string{name: options[name]}
	conceal(conceals, g)
	if !ok || conceals[name] != value || !mayHave(g, uris, from) {
		return "", lost("the option '--" + name + "'")
	}
	return options[name], nil
}

// revealHeader does it for the fields of a header. The second field of a name stands for the second one.
func (v *visit) revealHeader(value string, uris []string) (string, error) {
	lines, seen := strings.Split(value, "\n"), map[string]int{}
	for i, line := range lines {
		field, word, _ := strings.Cut(line, ":")
		if !strings.HasPrefix(strings.TrimSpace(word), stands) {
			continue
		}
		options, from, g, ok := v.owner(line)
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

// revealURI puts the password into a URI.
func (v *visit) revealURI(s string, u *url.URL) (string, error) {
	if u.User == nil || !strings.Contains(u.User.String(), stands) {
		return s, nil
	}
	_, uris, g, ok := v.owner(u.User.String())
	i := slices.IndexFunc(uris, func(uri string) bool { return masked(uri, g) == s })
	if !ok || i < 0 {
		return "", lost("the URI for " + u.Host)
	}
	return uris[i], nil
}

// mayHave reports whether a download of these URIs may have what is secret in an entry with the others: the first one,
// which gets it, is at the same server, and each of the others at one of that entry. What is for all downloads has no
// entry, and is for this one anyway.
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
