package job

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"braid/download"
	"braid/download/state"
	"braid/internal/option"
	"braid/internal/plug/objectstore"
	"braid/internal/problem"
	"braid/source"
)

// A Check has the options for verifying files on disk and objects. They must be set before Prepare is called.
type Check struct {
	HTTP
	Anchors
	From           string // URL of the file or its folder, or a Metalink document
	Require        option.ChoiceValue
	AllowLessProof bool
	NoLookup       bool
	IgnoreMissing  bool
	Timeout        option.TimeValue
	LimitRate      option.RatesValue

	Agent    string             `option:"-"`
	Sums     *Sums              `option:"-"` // nil before Prepare
	Document *download.Document `option:"-"` // the document that From names; may be nil
	Notes    StoreNotes         `option:"-"`

	common download.Request // fields that the requests for all files share
}

// NewClient returns the client for the check. tokens are the access tokens for forges, by host.
func (c *Check) NewClient(tokens map[string]string) (*download.Client, error) {
	hc, err := c.HTTP.Client(append(c.Signature, c.From, c.Checksums)...)
	hc.HeaderTimeout = time.Duration(c.Timeout)
	client := &download.Client{HTTP: hc, ForgeTokens: tokens, Timeout: time.Duration(c.Timeout),
		State: &state.Store{Dir: StateFolder(), PinsOnly: true, Opposing: true}, JournalKey: JournalKey()}
	c.Sites.AddForges(client)
	AdoptState(client.State, client.State.Dir) // after an error, no pins are known
	client.Limit = c.Sites.Limits.Of(c.LimitRate)
	return client, err
}

// Prepare reads what all files share: the options, the keys, the list of digests and the document.
func (c *Check) Prepare(ctx context.Context, client *download.Client) (err error) {
	c.common = download.Request{
		Trust: download.Trust{
			Require:   c.Sites.Demand(c.Require.Word, &c.Anchors).Require,
			LessProof: c.AllowLessProof,
			Lookup:    !c.NoLookup,
		},
	}
	if c.Require.Word == "" && !c.Anchors.Given() {
		c.common.Trust.Require = download.RequireDigest
	}
	if err := c.AddEvidence(&c.common, &c.Anchors); err != nil {
		return err
	}
	if !c.Sites.Any() { // otherwise Request checks this for each file
		if err := RequireKeys(&c.common); err != nil {
			return err
		}
	}
	if c.Sums, err = ReadSums(ctx, client, &c.HTTP, &c.Anchors, c.common, []string{c.From}); err != nil {
		return err
	}
	return c.readDocument(ctx, client)
}

// readDocument reads the document that --from names. It does nothing if --from is the URL of a file or a folder.
func (c *Check) readDocument(ctx context.Context, client *download.Client) (err error) {
	if c.From == "" {
		return nil
	}
	if !IsURL(c.From) {
		if _, err := os.Stat(c.From); err != nil && LooksLikeHost(c.From) && !download.IsDocument(c.From) {
			_, err := ParseWebURL(c.From) // c.From may be a URL without https://
			return err
		}
		if c.Document, err = OpenDocument(c.From); err == nil {
			client.Renew(ctx, c.Document, nil)
		}
		return err
	}
	r, err := c.asking(c.common, "")
	if err == nil && download.IsDocument(r.URL.Path) {
		c.common.Access.User, c.common.Trust.Anchors, c.common.Trust.Require = r.Access.User, r.Trust.Anchors, r.Trust.Require
		c.Document, err = client.Document(ctx, r)
	}
	return err
}

// FromOneFile reports whether --from is the URL of a single file, not of a folder or a document.
func (c *Check) FromOneFile() bool {
	u, err := ParseWebURL(c.From)
	return c.From != "" && err == nil && !strings.HasSuffix(u.Path, "/") && !download.IsDocument(u.Path)
}

// asking returns r with the URL of --from. If that is the URL of a folder, name is appended to it.
func (c *Check) asking(r download.Request, name string) (download.Request, error) {
	u, err := ParseWebURL(c.From)
	if err != nil {
		return r, err
	}
	if r.Access.User, err = c.UserFor(u); err != nil {
		return r, err
	}
	claims, err := ClaimsOfURL(c.From, r.Trust.Claims, true)
	if err == nil && len(claims) > len(r.Trust.Claims) && strings.HasSuffix(u.Path, "/") {
		err = problem.Misuse("--from", "the URL has a digest of one file, but is the URL of a folder",
			"--sha256 HEX, or --checksums LIST")
	}
	if err != nil {
		return r, err
	}
	u.User, r.Trust.Claims = nil, claims
	if strings.HasSuffix(u.Path, "/") && name != "" {
		u = u.JoinPath(url.PathEscape(name))
	}
	r.URL = u
	return r, c.Sites.bind(&r, u)
}

// Request returns the request for verifying file, the path of a file or the URL of an object.
func (c *Check) Request(file string) (r download.Request, err error) {
	r = c.common
	if r.Dir, r.Name = filepath.Dir(file), filepath.Base(file); objectstore.IsURL(file) {
		o := StoreOptions(c.Agent, time.Duration(c.Timeout), c.Notes.Add)
		if r.Store, r.Name, err = ObjectAt(file, o); err != nil {
			return r, err
		}
	}
	switch {
	case c.Document != nil:
		f, err := c.Document.FileAt(file)
		if err != nil {
			return r, err
		}
		if r, err = c.Document.Describe(f, r); err != nil {
			return r, err
		}
	case c.From != "":
		if r, err = c.asking(r, r.Name); err != nil {
			return r, err
		}
	}
	if err := RequireKeys(&r); err != nil {
		return r, err
	}
	if err := c.Sums.Vouch(&r); err != nil {
		return r, err
	}
	named, err := c.signaturesOf(&r, file)
	r.Trust.Signatures = append(named, r.Trust.Signatures...)
	return r, err
}

// signaturesOf returns the signatures for file. With a list of digests, --signature is for the list instead. If
// --signature is not given but a key is, signatures beside the file are used.
func (c *Check) signaturesOf(r *download.Request, file string) ([]download.Signature, error) {
	switch {
	case c.Sums.List != nil || c.From != "" && c.Document == nil:
		return c.Sums.OfFile(r.URL)
	case r.Store != nil:
		return c.SignaturesBeside(r.Name, nil)
	case c.From != "":
		return c.SignaturesBeside(file, nil)
	}
	return c.SignaturesBeside(file, r.Trust.Anchors.Besides())
}

// Listed returns the files in the list of digests, each once, in the order of the list. Like sha256sum -c, it reads
// paths from the current folder. A file outside that folder is an error.
func (c *Check) Listed() (paths []string, err error) {
	missing, seen := 0, map[string]bool{}
	for e, wrong := range c.Sums.List.Lines() {
		path := filepath.Clean(filepath.FromSlash(e.Name))
		switch {
		case e.Name == "" && wrong != nil:
			return nil, &problem.Problem{
				Kind: download.Protocol, What: "verify", Where: c.Sums.List.Name, Why: wrong.Error(),
				Hint: "name the files to check",
			}
		case e.Name == "" || e.Name == "-":
			continue
		case !filepath.IsLocal(path):
			return nil, &problem.Problem{
				Kind: download.Protocol, What: "verify", Where: c.Sums.List.Name,
				Why:  fmt.Sprintf("line %d lists %s, which is not below this folder", e.Line, source.Escape(e.Name)),
				Hint: "name the files to check",
			}
		case seen[path]:
			continue
		}
		seen[path] = true
		if _, err := os.Lstat(path); c.IgnoreMissing && os.IsNotExist(err) {
			missing++
			continue
		}
		paths = append(paths, path)
	}
	if len(paths) > 0 {
		return paths, nil
	}
	why := "the list names no file"
	if missing > 0 {
		why = fmt.Sprintf("none of the %d files in the list exists in this folder", missing)
	}
	return nil, &problem.Problem{
		Kind: download.NoEvidence, What: "verify", Where: c.Sums.List.Name, Why: why,
		Hint: "name the files to check",
	}
}

// ProbeRequest returns the request for asking the server of the URL word about its file. If lookup is true, digests are
// also searched elsewhere.
func (h *HTTP) ProbeRequest(word string, lookup bool) (r download.Request, err error) {
	u, err := ParseURL(word)
	if f, ok := err.(*problem.Problem); ok && download.IsDocument(word) {
		f.Hint = "to show a document and its URLs, use braid get --dry-run"
	}
	if err != nil {
		return r, err
	}
	if r.Access.User, err = h.UserFor(u); err != nil {
		return r, err
	}
	r.Trust.Lookup = lookup
	if err = h.AddEvidence(&r, &Anchors{}); err == nil {
		r.Trust.Claims, err = ClaimsOfURL(word, r.Trust.Claims, true)
	}
	u.User = nil
	if r.URL = u; err == nil {
		err = h.Sites.Apply(&r, u, true, nil)
	}
	return r, err
}
