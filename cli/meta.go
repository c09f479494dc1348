package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"braid/download"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/serve"
	"braid/source"
	"braid/verify"
	"braid/verify/signatures"
)

type metaCommand struct {
	streams
	mirrorFlags
	signFlags
	torrentFlags
	sumsFlags
	Out              string
	Overwrite, Quiet bool
	Hash             option.WordsValue
	PieceLength      size

	algorithms    []verify.Algorithm
	named, listed []serve.Mirror
	signer        verify.Signer // nil if --sign-with is not given
	listedSums    []string      // lines for the list of --sums
}

func newMeta(s streams) (action, targets) {
	v := &metaCommand{streams: s}
	return v.run, targetsOf(v)
}

// A sheet is a Metalink document to be written. paths are the paths of the files that it describes.
type sheet struct {
	out   string
	paths []string
}

func (v *metaCommand) run(ctx context.Context, paths []string) error {
	if err := v.prepare(paths); err != nil {
		return err
	}
	sheets := []sheet{{v.Out, paths}}
	if v.Out == "" {
		sheets = nil
		for _, path := range paths {
			sheets = append(sheets, sheet{path + ".meta4", []string{path}})
		}
	}
	for _, s := range sheets { // check all documents before any file is hashed
		if err := v.check(s, paths); err != nil {
			return err
		}
	}
	if err := v.checkSums(paths); err != nil {
		return err
	}
	for _, s := range sheets {
		if err := v.write(ctx, s); err != nil {
			return err
		}
	}
	return v.writeSums(paths)
}

// algorithmNames lists the digest algorithms. SHA-256, which every document has, comes first. The others follow from
// the strongest to the weakest.
func algorithmNames() string {
	names := []string{verify.SHA256.String()}
	for _, a := range slices.Backward(verify.Algorithms()) {
		if a != verify.SHA256 {
			names = append(names, a.String())
		}
	}
	return strings.Join(names, ", ")
}

func (v *metaCommand) prepare(paths []string) (err error) {
	if len(paths) == 0 {
		return problem.Misuse("meta", "missing file name", "see braid meta --help")
	}
	v.algorithms = []verify.Algorithm{verify.SHA256}
	for _, word := range v.Hash {
		a, ok := verify.ParseAlgorithm(word)
		if !ok {
			return problem.Misuse("--hash "+word, "unknown algorithm", "choose one of "+algorithmNames())
		}
		if !slices.Contains(v.algorithms, a) {
			v.algorithms = append(v.algorithms, a)
		}
	}
	if err := v.torrentFlags.check(); err != nil {
		return err
	}
	if v.named, v.listed, err = v.mirrorFlags.read(); err != nil {
		return err
	}
	for i, m := range v.named {
		has := func(path string) bool { _, ok := m.At(filepath.Base(path)); return ok }
		if !slices.ContainsFunc(paths, has) {
			return problem.Misuse("--mirror "+job.MaskWord(v.Mirror[i]), "is the URL of none of these files",
				"end the URL of a folder with a slash, and the URL of a file with the file's name")
		}
	}
	secret, passphrase, err := v.signFlags.read()
	if err != nil || secret == nil {
		return err
	}
	if v.signer, err = signatures.NewSigner(secret, passphrase, time.Now()); err != nil {
		return v.signFlags.failure(err)
	}
	return nil
}

// check returns an error if the document s cannot be written. all has the paths of the files of every document.
func (v *metaCommand) check(s sheet, all []string) error {
	names := map[string]bool{}
	for _, path := range s.paths {
		name := filepath.Base(path)
		if err := metalink.CheckPath(name); err != nil {
			return metaFailure(path, err)
		}
		if names[name] {
			return problem.Misuse(name, "two files with this name would be in one document",
				"leave out -o, so that each file gets its own document")
		}
		names[name] = true
		if len(v.mirrorsOf(name)) == 0 {
			return problem.Misuse(name, "no URL for this file",
				"give the URL of a folder that has the file with --mirror https://example.org/pub/, or a list of such "+
					"URLs with --mirrors FILE")
		}
	}
	if err := v.checkTorrents(s.paths, all); err != nil || s.out == "-" {
		return err
	}
	return v.checkOut(s.out, all, aMeta4)
}

var (
	errThere = errors.New("already exists")
	errInput = errors.New("is one of the files to be described")
)

// A metaKind is a kind of file that braid meta writes. It may replace an existing file only if that file is of the same kind.
type metaKind struct {
	looks func(head []byte) bool
	not   error
	hint  string // hint for a file that exists
}

var (
	aMeta4 = metaKind{metalink.Looks, errors.New("exists and is not a Metalink document"),
		"replace the existing file with --overwrite, or choose another name with -o NAME"}
	aTorrent = metaKind{metainfo.Looks, errors.New("exists and is not a torrent"), "replace the existing file with --overwrite"}
)

// checkOut returns an error if braid meta may not write a file of the given kind at path. An existing file of another
// kind is never replaced (rule 3).
func (v *metaCommand) checkOut(path string, inputs []string, kind metaKind) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return metaFailure(path, err)
	}
	for _, input := range inputs {
		if other, err := os.Stat(input); err == nil && os.SameFile(info, other) {
			return metaFailure(path, errInput)
		}
	}
	if !v.Overwrite {
		return &problem.Problem{Kind: download.Local, What: "meta", Where: path, Why: errThere.Error(), Hint: kind.hint}
	}
	if !info.Mode().IsRegular() || !kind.is(path) {
		return metaFailure(path, kind.not)
	}
	return nil
}

// is reports whether the file at path begins like a file of kind k.
func (k metaKind) is(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 16<<10))
	return err == nil && k.looks(head)
}

// write creates the document s and writes it.
func (v *metaCommand) write(ctx context.Context, s sheet) error {
	d := metalink.Document{Generator: "braid"}
	for _, path := range s.paths {
		f, err := v.describe(ctx, path)
		if err != nil {
			return metaFailure(path, err)
		}
		d.Files = append(d.Files, f.File)
		v.addSum(f.File)
		v.tell("%s: %s", path, contents(f.File))
		if err := v.writeTorrent(path, f, s.paths); err != nil {
			return err
		}
	}
	data, err := metalink.Format(d)
	if err != nil {
		return problem.Misuse("meta", err.Error(), "use a larger --piece-length, or fewer files in one document")
	}
	if s.out == "-" {
		_, err := v.streams.out.Write(data)
		return outputFailure(err)
	}
	if err := v.checkOut(s.out, s.paths, aMeta4); err != nil { // while the files were hashed, s.out may have been created
		return err
	}
	return v.place(s.out, data)
}

func (v *metaCommand) tell(format string, args ...any) {
	if !v.Quiet {
		fmt.Fprintln(v.streams.err, source.Escape(fmt.Sprintf(format, args...)))
	}
}

func metaFailure(path string, err error) error {
	if _, ok := errors.AsType[*problem.Problem](err); ok || errors.Is(err, context.Canceled) {
		return err
	}
	return problem.Local("meta", path, err)
}
