package job

import (
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/verify"
)

// An entry is an entry of a list while its options are read.
type entry struct {
	req      download.Request
	of       *Defaults
	dir, out string
	own      bool // Header is a copy, and is not shared with the defaults
	required bool // the entry has the option require
	looks    bool // the entry has the option for lookups
	excluded Excluded
}

// entryOptions maps each option that a list may have (option.InLine) to its parser.
var entryOptions = map[string]func(e *entry, value string) error{
	"out":         (*entry).name,
	"dir":         func(e *entry, v string) error { e.dir = v; return nil },
	"checksum":    (*entry).checksum,
	"sha256":      (*entry).sha256,
	"mirror":      (*entry).mirror,
	"header":      (*entry).field,
	"user-agent":  func(e *entry, v string) error { return e.field("User-Agent: " + v) },
	"referer":     func(e *entry, v string) error { return e.field("Referer: " + v) },
	"not-host":    (*entry).exclude,
	"no-referer":  func(e *entry, v string) error { return choose(&e.req.Access.NoReferer, v) },
	"user":        (*entry).user,
	"require":     (*entry).require,
	"priority":    (*entry).prioritize,
	"overwrite":   func(e *entry, v string) error { return choose(&e.req.IfExists.Overwrite, v) },
	"rename":      func(e *entry, v string) error { return choose(&e.req.IfExists.Rename, v) },
	"limit-rate":  (*entry).limit,
	"if-newer":    func(e *entry, v string) error { return choose(&e.req.IfExists.IfNewer, v) },
	"remote-time": func(e *entry, v string) error { return choose(&e.req.RemoteTime, v) },
	"remote-name": func(e *entry, v string) error { return choose(&e.req.RemoteName, v) },
	"no-metalink": func(e *entry, v string) error { return choose(&e.req.NoMetalink, v) },
	"no-lookup":   (*entry).lookUp,
}

// Request returns the request for listed, an entry that is not from a list but, for example, from a queue. It may have
// a document instead of URIs. Request is safe for concurrent use. The error is a *problem.Problem; its Where begins
// with the name of the option.
func (d *Defaults) Request(listed option.Entry) (download.Request, error) {
	r, wrong := d.request(listed)
	if wrong == nil {
		return r, nil
	}
	p := problem.Of(wrong.err)
	if wrong.option != "" {
		p.Where = strings.TrimSuffix(wrong.option+": "+p.Where, ": ")
	}
	return r, p
}

// Vouch adds to r the digests of its file in the list of --checksums.
func (d *Defaults) Vouch(r *download.Request) error { return d.sums.Vouch(r) }

// A wrongEntry is an error in an option of an entry. line is the line in the list, or 0.
type wrongEntry struct {
	line   int
	option string
	err    error
}

// request returns the request for listed. d has the values of the options that listed does not have.
func (d *Defaults) request(listed option.Entry) (download.Request, *wrongEntry) {
	e := &entry{req: d.common, of: d, dir: d.Dir, excluded: d.Location.NotHost}
	if d.Limit != "" {
		if err := e.limit(d.Limit); err != nil {
			return e.req, &wrongEntry{0, "", problem.Misuse("--max-download-limit", err.Error(), "")}
		}
	}
	if err := e.places(listed.URIs); err != nil {
		return e.req, &wrongEntry{listed.Line, "", err}
	}
	for _, o := range listed.Options {
		name, ok := option.InList(o.Name)
		set := entryOptions[name]
		if !ok {
			return e.req, &wrongEntry{o.Line, option.Shorten(o.Name, 40), unknownOption(o.Name)}
		}
		if err := set(e, o.Value); err != nil {
			return e.req, &wrongEntry{o.Line, o.Name, err}
		}
	}
	if d.Integrity && len(e.req.Trust.Claims) > 0 {
		e.req.IfExists.Overwrite, e.req.IfExists.Rename = true, false
	}
	if strings.HasSuffix(e.out, "/") || e.out == "-" {
		return e.req, &wrongEntry{listed.Line, "out", problem.Misuse("", "is not the name of a file",
			"give the folder with dir=FOLDER and the name in the folder with out=NAME")}
	}
	if name, err := e.place(); err != nil {
		return e.req, &wrongEntry{listed.Line, name, err}
	}
	lookup := e.req.Trust.Lookup
	if err := d.HTTP.Sites.Apply(&e.req, e.req.URL, d.demand().Said || e.required, d.limit); err != nil {
		return e.req, &wrongEntry{0, "", err}
	}
	if e.looks {
		e.req.Trust.Lookup = lookup
	}
	if err := RequireKeys(&e.req); err != nil {
		return e.req, &wrongEntry{listed.Line, "", err}
	}
	return e.req, nil
}

// lookUp parses no-lookup. Otherwise, published digests are searched if the server sends none.
func (e *entry) lookUp(v string) error {
	no := false
	err := choose(&no, v)
	e.req.Trust.Lookup, e.looks = !no, true
	return err
}

func unknownOption(name string) error {
	names := option.ListNames()
	hint := "choose one of " + strings.Join(names, ", ")
	if near := option.Nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return problem.Misuse("", "unknown option", hint)
}

// places parses uris: the URL of the file, then its mirrors.
func (e *entry) places(uris []string) error {
	if len(uris) == 0 {
		return nil
	}
	u, err := e.of.placeURL(uris[0])
	if err == nil {
		err = e.address(u)
	}
	if err == nil {
		e.req.Mirrors, err = ParseURLs(uris[1:], e.of.mirrorURL)
	}
	return err
}

// address sets the URL u without its login, and the login and the signatures for u.
func (e *entry) address(u *url.URL) error {
	login := e.of.HTTP.UserFor
	if e.of.OfClients {
		login = e.of.HTTP.userOfClient
	}
	user, err := login(u)
	if err != nil {
		return err
	}
	u.User = nil
	e.req.URL, e.req.Access.User = u, user
	e.req.Trust.Signatures, err = e.of.sums.OfFile(u)
	return err
}

// name sets the name of the file. The file must be below the folder, because another person may have written the list.
func (e *entry) name(v string) error {
	if v != "" && !filepath.IsLocal(filepath.FromSlash(v)) {
		return problem.Misuse("", option.Shorten(v, 80)+" is not below the folder of the download",
			"give the folder with dir=FOLDER and the name in the folder with out=NAME")
	}
	e.out = v
	return nil
}

// limit limits the rate of this download to v. The limit of all downloads still applies.
func (e *entry) limit(v string) error {
	var most option.RatesValue
	if err := most.Set(v); err != nil {
		return err
	}
	e.req.Limits.Rate = e.of.HTTP.Sites.limitOf(most)
	if e.req.Limits.Rate != nil && e.of.limit != nil {
		e.req.Limits.Rate.Within(e.of.limit)
	}
	return nil
}

func (e *entry) user(v string) error {
	user, err := userinfo(v)
	if err == nil {
		e.req.Access.User = user
	}
	return err
}

func (e *entry) checksum(v string) error {
	d, err := ParseChecksum(v)
	if err != nil {
		return err
	}
	return e.claim(d)
}

func (e *entry) sha256(v string) error {
	d, err := ParseSHA256(v)
	if err != nil {
		return err
	}
	return e.claim(d)
}

// claim adds the digest d from the list. d has the same effect as a digest given with --sha256.
func (e *entry) claim(d verify.Digest) error {
	more := []verify.Claim{{Digest: d, Field: "checksum in " + e.of.Input.String(), Channel: verify.User}}
	if err := verify.Agree(e.req.Trust.Claims, more); err != nil {
		return err
	}
	e.req.Trust.Claims = append(slices.Clip(e.req.Trust.Claims), more...)
	return nil
}

func (e *entry) mirror(v string) error {
	u, err := e.of.mirrorURL(v)
	if err == nil {
		e.req.Mirrors = append(e.req.Mirrors, u)
	}
	return err
}

// exclude adds v to the hosts that are never contacted.
func (e *entry) exclude(v string) error {
	words := slices.Clone(e.excluded)
	if err := words.Set(v); err != nil {
		return err
	}
	x, err := e.of.Location.Exclusion("", words)
	if err == nil {
		e.excluded, e.req.Access.Not = words, x
	}
	return err
}

// field adds v to the header fields of the command line.
func (e *entry) field(v string) error {
	if !e.own {
		e.req.Access.Header, e.own = http.Header(e.req.Access.Header).Clone(), true
	}
	if e.req.Access.Header == nil {
		e.req.Access.Header = http.Header{}
	}
	if err := AddField(e.req.Access.Header, v); err != nil {
		return err
	}
	// Several servers may share an address. Another one must not get what netrc and the settings have for that of the URL.
	name, host, _ := strings.Cut(v, ":")
	if e.of.OfClients && strings.EqualFold(strings.TrimSpace(name), "Host") &&
		(e.req.URL == nil || !strings.EqualFold(strings.TrimSpace(host), e.req.URL.Host)) {
		return problem.Misuse("Host", "must be the host of the URL", "")
	}
	return nil
}

func (e *entry) require(v string) error {
	c := option.ChoiceValue{Words: option.WordsOf("require")}
	err := c.Set(v)
	e.req.Trust.Require, e.required = Requirement(v, false), true
	return err
}

// prioritize checks the priority v. A priority is an error if the entry is not for a job queue, because it would have
// no effect. The value is not stored: FleetJob reads it from the options.
func (e *entry) prioritize(v string) error {
	if !e.of.Queued {
		return problem.Misuse("", "applies only to jobs in a queue", "give a queue, as in braid get --queue embedded")
	}
	c := option.ChoiceValue{Words: option.WordsOf("priority")}
	return c.Set(v)
}

var errChoice = errors.New("write true or false")

func choose(to *bool, v string) error {
	switch v {
	case "true":
		*to = true
	case "false":
		*to = false
	default:
		return errChoice
	}
	return nil
}
