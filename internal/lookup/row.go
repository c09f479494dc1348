package lookup

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"braid/internal/once"
)

// NewForge returns a row of the user's table. The keys "like", "host" and "api" copy a built-in row for another host.
// The keys "url", "ask", "query", "delivery", "lines", "list", "at", "only", "digest" and "sha256" are those of Forge,
// and replace values of the copy. A word of "only" is FIELD=VALUE.
func NewForge(name string, words map[string][]string) (*Forge, error) {
	word := func(key string) string {
		if len(words[key]) == 0 {
			return ""
		}
		return words[key][0]
	}
	f := &Forge{}
	if word("like") != "" || word("host") != "" || word("api") != "" {
		var err error
		if f, err = like(word("like"), word("host"), word("api")); err != nil {
			return nil, err
		}
	}
	f.Name, f.own = name, true
	for key, to := range map[string]*string{"ask": &f.Ask, "query": &f.Query, "list": &f.List, "digest": &f.Digest,
		"sha256": &f.SHA256} {
		if _, given := words[key]; given {
			*to = word(key)
		}
	}
	for key, to := range map[string]*[]string{"url": &f.URL, "delivery": &f.Delivery, "at": &f.At} {
		if list, given := words[key]; given {
			*to = list
		}
	}
	if _, given := words["lines"]; given {
		f.Lines = word("lines") == "true"
	}
	if only, given := words["only"]; given {
		f.Only = map[string]string{}
		for _, o := range only {
			field, value, ok := strings.Cut(o, "=")
			if !ok || field == "" {
				return nil, fmt.Errorf("only: %q: write FIELD=VALUE", o)
			}
			f.Only[field] = value
		}
	}
	if err := f.compile(); err != nil {
		return nil, err
	}
	return f, f.check()
}

var (
	hostName = once.Pattern(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?$`)
	// The host in a pattern of URLs and in a question is literal, so that a row is only for the hosts that it names.
	fileHost = once.Pattern(`^\^https://((?:[a-z0-9-]|\\\.)+(?::[0-9]+)?)/`)
	askHost  = once.Pattern(`^https://([a-z0-9.-]+(?::[0-9]+)?)/`)
)

// like returns a copy of the built-in row of that name for another host. The questions go below api. api may be empty
// if the questions of the row go to the host of the files.
func like(name, host, api string) (*Forge, error) {
	forges := Forges()
	i := slices.IndexFunc(forges, func(f *Forge) bool { return strings.EqualFold(f.Name, name) })
	if i < 0 {
		return nil, fmt.Errorf("like: no row %q; there are %s", name, strings.Join(rowNames(forges), ", "))
	}
	if !hostName().MatchString(host) {
		return nil, fmt.Errorf("host: %q is not a host in lower case, with its port unless that is 443", host)
	}
	f := *forges[i]
	f.Token, f.Delivery, f.URL = false, nil, nil
	of := fileHost().FindStringSubmatch(forges[i].URL[0])[1]
	for _, expression := range forges[i].URL {
		rest, ok := strings.CutPrefix(expression, "^https://"+of+"/")
		if !ok {
			return nil, fmt.Errorf("like: %s has files at several hosts: write url and ask", f.Name)
		}
		f.URL = append(f.URL, "^https://"+regexp.QuoteMeta(host)+"/"+rest)
	}
	asked := askHost().FindStringSubmatch(f.Ask)[1]
	switch u, err := url.Parse(api); {
	case api == "" && asked != strings.ReplaceAll(of, `\`, ""):
		return nil, fmt.Errorf("api: %s answers questions at another host: write its URL", f.Name)
	case api == "":
		api = "https://" + host
	case err != nil || u.Scheme != "https" || !hostName().MatchString(u.Host) || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "":
		return nil, errors.New("api: write https://HOST or https://HOST/PATH")
	}
	f.Ask = strings.TrimSuffix(api, "/") + strings.TrimPrefix(f.Ask, "https://"+asked)
	return &f, nil
}

func rowNames(forges []*Forge) (names []string) {
	for _, f := range forges {
		names = append(names, f.Name)
	}
	return names
}

func (f *Forge) compile() error {
	f.urls = nil
	for _, expression := range f.URL {
		e, err := regexp.Compile(expression)
		if err != nil {
			return fmt.Errorf("url: %w", err)
		}
		f.urls = append(f.urls, e)
	}
	return nil
}

// check returns an error if a row is not complete. An entry of the answer must be bound to the file that it is about.
// Otherwise the digest of another file would be accepted.
func (f *Forge) check() error {
	switch {
	case len(f.URL) == 0:
		return errors.New("no url: write expressions for the URLs of files, or like and host")
	case !askHost().MatchString(f.Ask):
		return errors.New("ask: write https://HOST/ and the path of the question")
	case f.Digest != "" && f.SHA256 != "":
		return errors.New("digest and sha256: write only one of them")
	case f.Digest == "" && f.SHA256 == "" && len(f.At) == 0:
		return errors.New("neither digest, sha256 nor at: without one, the answer would prove nothing")
	}
	used := f.Ask
	for _, value := range f.Only {
		used += " " + value
	}
	if own := strings.TrimPrefix(used, f.Ask); len(f.At) == 0 && !variable().MatchString(own) {
		return errors.New("neither at nor a variable in only: an entry must name its file")
	}
	for i, e := range f.urls {
		if !fileHost().MatchString(f.URL[i]) || !strings.HasSuffix(f.URL[i], "$") {
			return fmt.Errorf(`url: %q: begin with ^https://HOST/, with \. for a dot, and end with $`, f.URL[i])
		}
		for _, m := range variable().FindAllStringSubmatch(used, -1) {
			if e.SubexpIndex(m[1]) < 0 {
				return fmt.Errorf("url: %q has no group (?P<%s>...)", f.URL[i], m[1])
			}
		}
	}
	return nil
}
