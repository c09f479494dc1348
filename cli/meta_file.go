package cli

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/metalink"
	"braid/metalink/metainfo"
	"braid/verify"
)

// mostPieces limits the pieces that a document has for one file, so that clients can read the document.
const mostPieces = 50_000

var (
	errNoFile     = errors.New("is not a regular file")
	errChanging   = errors.New("was changed while it was read")
	errManyPieces = fmt.Errorf("would have more than %d pieces (a larger --piece-length makes fewer)", mostPieces)
	errArmor      = errors.New("is not an armored OpenPGP or minisign signature (--sign-with makes one; else move it away)")
)

// mirrorsOf returns the mirrors of the file with the given name, best first.
func (v *metaCommand) mirrorsOf(name string) (places []metalink.Mirror) {
	for _, m := range slices.Concat(v.named, v.listed) {
		at, ok := m.At(name)
		same := func(p metalink.Mirror) bool { return p.URL.String() == at.URL.String() }
		if ok && !slices.ContainsFunc(places, same) {
			places = append(places, at)
		}
	}
	metalink.Sort(places)
	return places
}

// A described file has what its Metalink document and its torrent state about it.
type described struct {
	metalink.File
	sha1 verify.Pieces // pieces for the torrent; zero if none is written
}

// describe reads a file once and returns its description.
func (v *metaCommand) describe(ctx context.Context, path string) (described, error) {
	name := filepath.Base(path)
	f := described{File: metalink.File{Name: name, Mirrors: v.mirrorsOf(name)}}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errNoFile // os.Open would block until a pipe has a writer
	}
	if err != nil {
		return f, err
	}
	file, err := os.Open(path)
	if err != nil {
		return f, err
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return f, err
	}
	f.Size = info.Size()
	if err := v.measure(ctx, file, &f); err != nil {
		return f, err
	}
	after, err := os.Stat(path) // not file.Stat, because a rename may have replaced the file
	if err == nil && (!os.SameFile(after, info) || after.Size() != info.Size() || !after.ModTime().Equal(info.ModTime())) {
		err = errChanging
	}
	if err == nil && v.signer == nil {
		f.Signatures, err = signaturesBeside(path)
	}
	return f, err
}

// measure reads r, the content of f, and adds its digests, pieces and signature to f.
func (v *metaCommand) measure(ctx context.Context, r io.Reader, f *described) error {
	length := int64(v.PieceLength)
	if length == 0 {
		length = verify.PieceLength(f.Size)
	}
	if f.Size/length >= mostPieces {
		return errManyPieces
	}
	pieces := verify.NewPieceMaker(verify.SHA256, length)
	sinks := []io.Writer{pieces}
	sha1 := verify.NewPieceMaker(verify.SHA1, length)
	if v.Torrent {
		sinks = append(sinks, sha1)
	}
	sums := make([]hash.Hash, len(v.algorithms))
	for i, a := range v.algorithms {
		sums[i] = a.New()
		sinks = append(sinks, sums[i])
	}
	var signing verify.Signing
	if v.signer != nil {
		var err error
		if signing, err = v.signer.Begin(f.Name, time.Now()); err != nil {
			return v.signFlags.failure(err)
		}
		sinks = append(sinks, signing)
	}
	in := newInterruptible(ctx, r)
	defer in.Close()
	n, err := io.CopyBuffer(io.MultiWriter(sinks...), in, make([]byte, 1<<20))
	if err == nil && n != f.Size {
		err = errChanging
	}
	if err != nil {
		return err
	}
	f.sha1 = sha1.Pieces()
	return v.finish(&f.File, pieces, sums, signing)
}

// finish adds the computed pieces, the digests in sums, and the signature to f.
func (v *metaCommand) finish(f *metalink.File, pieces *verify.PieceMaker, sums []hash.Hash, signing verify.Signing) error {
	for i, a := range v.algorithms {
		d, err := verify.NewDigest(a, sums[i].Sum(nil))
		if err != nil {
			return err
		}
		f.Claims = append(f.Claims, verify.Claim{Digest: d})
	}
	if p := pieces.Pieces(); !p.IsZero() {
		f.Pieces = []verify.Pieces{p}
	}
	if signing == nil {
		return nil
	}
	sig, err := signing.Signature()
	f.Signatures = []metalink.Signature{{Type: v.signer.Kind().Types[0], Text: strings.TrimSpace(string(sig))}}
	return err
}

// signaturesBeside returns the signatures in path.asc and path.minisig, as far as these files exist.
func signaturesBeside(path string) (all []metalink.Signature, err error) {
	for _, ending := range []string{".asc", ".minisig"} {
		sig, err := signatureIn(path + ending)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, metaFailure(path+ending, err)
		}
		all = append(all, sig)
	}
	return all, nil
}

// signatureIn returns the signature in the file at path.
func signatureIn(path string) (sig metalink.Signature, err error) {
	const most = 64 << 10
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return sig, err
	case !info.Mode().IsRegular() || info.Size() > most:
		return sig, errArmor
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return sig, err
	}
	sig, ok := metalink.TextSignature(data)
	if !ok {
		return sig, errArmor
	}
	return sig, nil
}

func contents(f metalink.File) string {
	parts := []string{option.SizeText(f.Size)}
	if p := f.BestPieces(); !p.IsZero() {
		parts = append(parts, fmt.Sprintf("%s of %s", option.Count(p.Count(), "piece"), option.SizeText(p.Length())))
	}
	parts = append(parts, option.Count(len(f.Mirrors), "mirror"))
	if len(f.Signatures) > 0 {
		parts = append(parts, "signature")
	}
	return strings.Join(parts, ", ")
}

// torrentFlags are the flags for writing a torrent beside each described file.
type torrentFlags struct {
	Torrent bool
	Tracker option.WordsValue
}

const torrentSuffix = ".torrent"

func (f *torrentFlags) check() error {
	trackers := f.Tracker
	if len(trackers) > 0 && !f.Torrent {
		return problem.Misuse("--tracker", "applies only to torrents, and none is written", "add --torrent")
	}
	for _, t := range trackers {
		if !metainfo.IsTracker(t) {
			return problem.Misuse("--tracker "+job.MaskWord(t), "is not an http, https or udp URL", "")
		}
	}
	return nil
}

// tiers returns one tier per tracker, in order. A client uses a tier only if no tracker of the earlier tiers answers (BEP 12).
func (f *torrentFlags) tiers() (tiers [][]string) {
	for t := range slices.Chunk(f.Tracker, 1) {
		tiers = append(tiers, t)
	}
	return tiers
}

// makeTorrent returns the torrent for f. Its web seeds are the mirrors in the Metalink document, in the same order.
func (v *metaCommand) makeTorrent(f described) ([]byte, error) {
	t, err := metainfo.New(f.Name, f.sha1)
	if err != nil {
		return nil, err
	}
	t.Trackers = v.torrentFlags.tiers()
	var seeds []string
	for _, m := range f.Mirrors {
		seeds = append(seeds, m.URL.String())
	}
	return t.Format("braid", seeds)
}

// writeTorrent writes the torrent of the file at path beside that file if --torrent is given.
func (v *metaCommand) writeTorrent(path string, f described, inputs []string) error {
	if !v.Torrent {
		return nil
	}
	out := path + torrentSuffix
	data, err := v.makeTorrent(f)
	if err != nil {
		return metaFailure(out, err)
	}
	if err := v.checkOut(out, inputs, aTorrent); err != nil { // while the files were hashed, the torrent may have been created
		return err
	}
	return v.place(out, data)
}

// errNothing is the error for an empty file. BEP 3 does not allow an empty file in a torrent.
var errNothing = errors.New("is empty, and a torrent needs at least one byte")

// checkTorrents returns an error if the torrents of the files at paths cannot be written.
func (v *metaCommand) checkTorrents(paths, all []string) error {
	if !v.Torrent {
		return nil
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			return metaFailure(path, errNothing)
		}
		if err := v.checkOut(path+torrentSuffix, all, aTorrent); err != nil {
			return err
		}
	}
	return nil
}
