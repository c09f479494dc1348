package cli

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"braid/download"
	"braid/internal/problem"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/source"
)

// An operand is what a word of the command line names: a file, or files of a document. Requests of the latter are made
// when their turn comes, and the document is all that is kept of those that wait.
type operand struct {
	request  download.Request   // of a document what its files have in common
	document *download.Document // nil: the request is that of the only file
	files    []int              // which of the document
}

// len returns how many files the operand names.
func (o *operand) len() int {
	if o.document == nil {
		return 1
	}
	return len(o.files)
}

// operands reads the words, and the documents among what they name.
func (g *getCommand) operands(ctx context.Context, client *download.Client, words []string) (operands []operand, err error) {
	if err := g.check(words); err != nil {
		return nil, err
	}
	if err := g.prepareFor(client); err != nil {
		return nil, err
	}
	if err := g.readSums(ctx, client, words); err != nil {
		return nil, err
	}
	for _, word := range words {
		o, err := g.operand(ctx, client, word)
		if err != nil {
			return nil, err
		}
		operands = append(operands, o)
	}
	return operands, g.allChosen(words)
}

// prepareFor reads the flags that are for all files that a client downloads.
func (g *getCommand) prepareFor(client *download.Client) error {
	if err := g.prepare(); err != nil {
		return err
	}
	if g.common.Peers = client.Peers(g.common.Peers); g.common.Peers == download.PeersHidden && g.Peers.seeds() {
		return problem.Misuse("--seed-time", "peers would see the address that the proxy hides",
			"--bittorrent only says that they may")
	}
	if g.sites.any() {
		return nil
	}
	return requireKeys(&g.common)
}

// allChosen wants each pattern of --select to name a file: a user who asks for two and gets one is told, unless
// something that comes in place of a file may have the other.
func (g *getCommand) allChosen(words []string) error {
	if len(g.documents) < len(words) {
		return nil
	}
	for _, pattern := range g.Select {
		var missed error
		for _, d := range g.documents {
			if _, missed = d.Choose([]string{pattern}); missed == nil {
				break
			}
		}
		if missed != nil {
			return missed
		}
	}
	return nil
}

func (g *getCommand) operand(ctx context.Context, client *download.Client, word string) (o operand, err error) {
	if metainfo.IsMagnet(word) {
		d, err := client.Magnet(ctx, g.common, word)
		if err != nil {
			return o, err
		}
		return g.described(ctx, d, g.common)
	}
	if g.isLocalDocument(word) {
		d, err := g.readDocument(word)
		if err != nil {
			return o, err
		}
		client.Renew(ctx, d, g.common.Not)
		return g.described(ctx, d, g.common)
	}
	u, err := g.placeURL(word)
	if err != nil {
		return o, orList(word, err)
	}
	r := g.common
	if r.User, err = g.credentials(u); err != nil {
		return o, err
	}
	if r.Claims, err = claimsOfURL(word, r.Claims, !g.NoMetalink); err != nil {
		return o, err
	}
	u.User = nil
	r.URL = u
	if err := g.sites.apply(&r, u, g.demand().said, g.limit); err != nil {
		return o, err
	}
	if err := requireKeys(&r); err != nil {
		return o, err
	}
	if !g.NoMetalink && download.IsDocument(u.Path) {
		d, err := client.Document(ctx, r)
		if err != nil {
			return o, err
		}
		return g.described(ctx, d, r)
	}
	r.Dir, r.Name, r.Stream = g.target()
	if r.Signatures, err = g.sums.ofFile(u); err != nil {
		return o, err
	}
	err = g.sums.vouch(&r)
	return operand{request: r}, err
}

// orList is err, with a hint if what should be a URL is a file: a list of URLs, as it seems.
func orList(word string, err error) error {
	f, ok := err.(*problem.Problem)
	if info, wrong := os.Stat(word); ok && wrong == nil && info.Mode().IsRegular() {
		f.Hint = "a list of URLs is read with -i"
	}
	return err
}

// isLocalDocument reports whether a word is the name of a document, or a torrent, and no URL.
func (g *getCommand) isLocalDocument(word string) bool {
	return download.IsDocument(word) && !strings.Contains(word, "://")
}

func (g *getCommand) readDocument(name string) (*download.Document, error) {
	if g.NoMetalink {
		return nil, problem.Misuse(name, "a document on disk, which --no-metalink would leave unread", "")
	}
	return openDocument(name)
}

func openDocument(name string) (*download.Document, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, problem.Local("document", name, err)
	}
	defer f.Close()
	return download.ReadDocument(f, name)
}

// described chooses files of a document. Those that cannot be downloaded, as their names are not safe or no place is known, are
// told of, and the others go on (rule 10).
func (g *getCommand) described(ctx context.Context, d *download.Document, base download.Request) (o operand, err error) {
	if err := requireKeys(&base); err != nil { // a document on disk is of no site
		return o, err
	}
	chosen, err := d.Choose(base.Select)
	if err != nil {
		return o, err
	}
	g.documents = append(g.documents, d)
	refused := d.RefusedOf(base.Select)
	if n := len(chosen) + len(refused); n > 1 {
		if err := g.checkSeveral(d, n); err != nil {
			return o, err
		}
	}
	for _, note := range slices.Concat(d.Warnings, d.Notes) {
		g.notes = append(g.notes, d.Name+": "+note)
	}
	for _, r := range refused {
		g.lost = append(g.lost, refusedName(d.Name, r))
	}
	o = operand{request: base, document: d}
	for _, i := range chosen {
		r, err := g.place(&o, i)
		if err != nil {
			g.lost = append(g.lost, downloadProblem(ctx, err))
			continue
		}
		if err := g.vouch(&r); err != nil {
			return o, err
		}
		o.files = append(o.files, i)
	}
	return o, nil
}

// place makes the request of a file of a document, without what --checksums and --signature say of it.
func (g *getCommand) place(o *operand, i int) (r download.Request, err error) {
	f := o.document.Files.At(i)
	r = o.request
	r.Dir, r.Name, r.Stream = g.target()
	if r, err = o.document.Request(f, r); err != nil {
		return r, err
	}
	if g.integrity && len(f.Claims)+len(f.Pieces) > 0 {
		r.Overwrite, r.Rename = true, false
	}
	return r, nil
}

// vouch adds to the request of a file of a document what --checksums and --signature say of it.
func (g *getCommand) vouch(r *download.Request) error {
	named, err := g.sums.ofFile(r.URL)
	if err != nil {
		return err
	}
	r.Signatures = append(named, r.Signatures...)
	return g.sums.vouch(r)
}

// refusedName is the failure of a file of a document whose name is not safe (rule 10).
func refusedName(document string, r metalink.Refused) *problem.Problem {
	return &problem.Problem{
		Kind: download.Local, What: "document", Where: document + ", file " + source.Escape(r.Name),
		Why: r.Reason, Kept: "not downloaded",
	}
}

// checkSeveral refuses flags that are for one file.
func (g *getCommand) checkSeveral(d *download.Document, n int) error {
	hint := "--select NAME chooses one"
	switch what := " for " + files(n) + " of " + d.Name; {
	case g.Out != "":
		return problem.Misuse("-o", "one name"+what, hint+"; -d FOLDER takes them all")
	case g.digested() != "":
		return problem.Misuse(g.digested(), "one digest"+what, hint)
	case g.Checksums == "" && g.names():
		return problem.Misuse("--signature", "a signature of one file"+what, hint+"; --signature .asc is beside each")
	case len(g.Mirror) > 0:
		return problem.Misuse("--mirror", "a mirror of one file"+what, hint)
	}
	return nil
}

// severalInOne downloads the files of a document that came in place of the one file that was asked for.
func (g *getCommand) severalInOne(ctx context.Context, client *download.Client, d *download.Document, r download.Request) int {
	if g.sums.list != nil { // what it says of that one it does not say of these
		r.Claims = slices.DeleteFunc(slices.Clone(r.Claims), g.sums.list.Has)
	}
	o, err := g.described(ctx, d, r)
	list := worklistOf(g, o)
	if err == nil {
		err = list.check()
	}
	if err != nil {
		return g.told(ctx, err)
	}
	return g.all(ctx, client, list)
}

// showNotes says what documents have that is not used, and what cannot be downloaded of them. It returns the exit code
// for that.
func (g *getCommand) showNotes() int {
	code := exitDone
	tell := func(say func(string, ...any), notes []string) {
		for _, n := range notes {
			say("%s", n)
			g.lines.write(noteEvent{newHead(time.Now(), "note"), source.Escape(n)})
		}
	}
	tell(g.screen.say, g.warnings)
	tell(g.screen.detail, g.notes)
	for _, f := range g.lost {
		g.report(f)
		code = batchCode([]int{code, exitCode(f)})
	}
	g.warnings, g.notes, g.lost = nil, nil, nil
	return code
}

// readSums reads the list of get.
func (g *getCommand) readSums(ctx context.Context, client *download.Client, operands []string) error {
	g.sums = sumsReader{http: &g.httpFlags, anchors: &g.anchorFlags, client: client, common: g.common, operands: operands}
	err := g.sums.read(ctx)
	g.notes, g.warnings = append(g.notes, g.sums.notes...), append(g.warnings, g.sums.warnings...)
	return err
}
