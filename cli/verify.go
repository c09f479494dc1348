package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"braid/download"
	"braid/download/state"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/render"
	"braid/objectstore"
	"braid/source"
)

type verifyCommand struct {
	job.HTTP
	job.Anchors
	streams
	From string
	outputFlags
	Require                choice
	AllowLessProof, Repair bool
	NoLookup               bool
	IgnoreMissing          bool
	Timeout                duration
	LimitRate              rates

	screen   *render.Screen
	lines    *render.JSONWriter
	several  bool
	common   download.Request // the part of a request that is common to all files
	document *download.Document
	sums     *job.Sums
	notes    job.StoreNotes
}

func newVerify(s streams) (action, targets) {
	v := &verifyCommand{streams: s, outputFlags: newOutputFlags(s)}
	return v.run, targetsOf(v)
}

// run verifies the files. It returns the exit code with the highest precedence.
func (v *verifyCommand) run(ctx context.Context, paths []string) error {
	v.screen = v.outputFlags.screen(v.streams)
	if v.JSON {
		v.lines = render.NewJSONWriter(v.streams.out)
	}
	v.Sites = job.NewSites(configurationOf(ctx))
	client, err := v.client()
	if err != nil {
		return v.leave([]int{v.fail("", problemOf(ctx, err))})
	}
	defer v.Sites.Limits.Follow()()
	defer client.HTTP.CloseIdle()
	if err := v.prepare(ctx, client, paths); err != nil {
		return v.leave([]int{v.fail("", verifyFailure(ctx, err))})
	}
	if len(paths) == 0 {
		if paths, err = v.listed(); err != nil {
			return v.leave([]int{v.fail("", verifyFailure(ctx, err))})
		}
	}
	var codes []int
	for _, path := range paths {
		if codes = append(codes, v.file(ctx, client, path)); ctx.Err() != nil {
			break
		}
	}
	for _, text := range v.notes.Take() {
		v.screen.Warn("%s", text)
	}
	return v.leave(codes)
}

func (v *verifyCommand) leave(codes []int) error {
	if code := batchCode(codes); code != exitDone {
		return reported(code)
	}
	return outputFailure(v.lines.Err())
}

func (v *verifyCommand) client() (*download.Client, error) {
	hc, err := v.HTTP.Client(append(v.Signature, v.From, v.Checksums)...)
	hc.HeaderTimeout = time.Duration(v.Timeout)
	c := &download.Client{HTTP: hc, ForgeTokens: forgeTokens(), Timeout: time.Duration(v.Timeout),
		State: &state.Store{Dir: job.StateFolder(), PinsOnly: true}, JournalKey: job.JournalKey()}
	job.AdoptState(c.State, c.State.Dir) // after an error nothing is known
	c.Limit = v.Sites.Limits.Of(v.LimitRate)
	return c, err
}

// file verifies one file and returns the exit code.
func (v *verifyCommand) file(ctx context.Context, client *download.Client, path string) int {
	r, err := v.request(path)
	if err != nil {
		return v.fail(path, verifyFailure(ctx, err))
	}
	w := render.NewDownload(v.screen, v.lines, v.several)
	w.Reading, w.Asked = true, v.streams.asked
	var verdict download.Verdict
	w.During(func(observe func(download.Event)) {
		r.Observe = observe
		verdict, err = client.Verify(ctx, r)
	})
	switch {
	case err == nil:
		w.Right(r, verdict)
		return exitDone
	case v.Repair && verdict.Repairable():
		w.Wrong(verdict, verifyFailure(ctx, err).Why)
		return v.mend(ctx, client, r, verdict)
	}
	w.Damaged(verdict)
	return v.fail(path, verifyFailure(ctx, err))
}

// mend repairs a file and returns the exit code.
func (v *verifyCommand) mend(ctx context.Context, client *download.Client, r download.Request, verdict download.Verdict) int {
	w := render.NewDownload(v.screen, v.lines, v.several)
	w.Repairing, w.Asked = true, v.streams.asked
	var result download.Result
	var err error
	w.During(func(observe func(download.Event)) { result, err = client.Repair(ctx, verdict, observe) })
	if err != nil {
		w.Shares(result.Sources)
		return v.fail(verdict.Path, downloadProblem(ctx, err))
	}
	w.Repaired(r, result)
	if v.terminal || v.Verbose {
		w.Shares(result.Sources)
	}
	return exitDone
}

// fail reports a failure and returns its exit code.
func (v *verifyCommand) fail(path string, f *problem.Problem) int {
	v.lines.Fail(f, exitCode(f), path)
	v.screen.Fail(f)
	return exitCode(f)
}

// verifyFailure makes a problem of an error of a verification. If nothing was kept, the problem does not say
// so.
func verifyFailure(ctx context.Context, err error) *problem.Problem {
	f := downloadProblem(ctx, err)
	if e, ok := errors.AsType[*download.Error](err); ok && e.Kept == 0 {
		f.Kept = ""
	}
	return f
}

// check rejects flags that contradict each other or the operands.
func (v *verifyCommand) check(paths []string) error {
	several := len(paths) != 1
	return firstMisuse([]wrongUse{
		{len(paths) == 0 && v.Checksums == "", "verify", "no file", "braid verify --help; --checksums LIST may name files, too"},
		{several && v.DigestOption() != "", v.DigestOption(), "one digest for several files",
			"--checksums LIST has one for each"},
		{several && v.Checksums == "" && v.NamesOne(), "--signature", "a signature of one file, and there are several",
			"--signature .asc is beside each"},
		{several && v.isOneFile(), "--from", "the URL of one file, and there are several",
			"that of their folder ends with a slash; a Metalink document may have many files"},
		{v.Repair && v.From == "", "--repair", "no place is named that has the right bytes", "--from URL|FILE.meta4 names them"},
		{v.Quiet && v.Verbose, "-q", "contradicts -v", ""},
		{v.Repair && slices.ContainsFunc(paths, objectstore.IsURL), "--repair", "an object cannot be changed in part",
			"braid get --overwrite --to s3://BUCKET/PREFIX/ URL replaces it"},
		{slices.ContainsFunc(paths, func(p string) bool { return job.IsURL(p) && !objectstore.IsURL(p) }),
			"verify", "checks files on disk, and objects",
			"braid get URL checks what it fetches; --from URL FILE says what a file should be"},
	})
}

// isOneFile reports whether --from is the URL of a single file, not of a folder or a document.
func (v *verifyCommand) isOneFile() bool {
	u, err := job.ParseWebURL(v.From)
	return v.From != "" && err == nil && !strings.HasSuffix(u.Path, "/") && !download.IsDocument(u.Path)
}

// prepare reads what all files have in common: flags, keys, the list of digests and the document.
func (v *verifyCommand) prepare(ctx context.Context, client *download.Client, paths []string) (err error) {
	if err := v.check(paths); err != nil {
		return err
	}
	v.several = len(paths) != 1
	v.common = download.Request{
		Require: v.Sites.Demand(v.Require.Word, &v.Anchors).Require, LessProof: v.AllowLessProof, Lookup: !v.NoLookup,
	}
	if v.Require.Word == "" && !v.Anchors.Given() {
		v.common.Require = download.RequireDigest
	}
	if err := v.AddEvidence(&v.common, &v.Anchors); err != nil {
		return err
	}
	if err := job.RequireKeys(&v.common); err != nil {
		return err
	}
	if v.sums, err = job.ReadSums(ctx, client, &v.HTTP, &v.Anchors, v.common, []string{v.From}); err != nil {
		return err
	}
	if err := v.readDocument(ctx, client); err != nil {
		return err
	}
	v.tell()
	return nil
}

// readDocument reads the Metalink document of --from. A --from that is the URL of a file or a folder is left
// alone.
func (v *verifyCommand) readDocument(ctx context.Context, client *download.Client) (err error) {
	if v.From == "" {
		return nil
	}
	if !job.IsURL(v.From) {
		if _, err := os.Stat(v.From); err != nil && job.LooksLikeHost(v.From) && !download.IsDocument(v.From) {
			_, err := job.ParseWebURL(v.From) // it lacks https://
			return err
		}
		if v.document, err = job.OpenDocument(v.From); err == nil {
			client.Renew(ctx, v.document, nil)
		}
		return err
	}
	r, err := v.asking(v.common, "")
	if err == nil && download.IsDocument(r.URL.Path) {
		v.common.User = r.User
		v.document, err = client.Document(ctx, r)
	}
	return err
}

// tell shows the warnings and notes of the list and the document.
func (v *verifyCommand) tell() {
	for _, text := range v.sums.Warnings {
		v.screen.Say("%s", text)
	}
	notes := v.sums.Notes
	if d := v.document; d != nil {
		for _, note := range slices.Concat(d.Warnings, d.Notes) {
			notes = append(notes, d.Name+": "+note)
		}
	}
	for _, text := range notes {
		v.screen.Detail("%s", text)
	}
}

// asking returns r with the URL of --from. If that is the URL of a folder, name is added to it.
func (v *verifyCommand) asking(r download.Request, name string) (download.Request, error) {
	u, err := job.ParseWebURL(v.From)
	if err != nil {
		return r, err
	}
	if r.User, err = v.UserFor(u); err != nil {
		return r, err
	}
	claims, err := job.ClaimsOfURL(v.From, r.Claims, true)
	if err == nil && len(claims) > len(r.Claims) && strings.HasSuffix(u.Path, "/") {
		err = problem.Misuse("--from", "a digest of one file, and the URL is that of a folder", "--sha256 HEX, or --checksums LIST")
	}
	if err != nil {
		return r, err
	}
	u.User, r.Claims = nil, claims
	if strings.HasSuffix(u.Path, "/") && name != "" {
		u = u.JoinPath(url.PathEscape(name))
	}
	r.URL = u
	return r, nil
}

// request returns the request for the verification of a file.
func (v *verifyCommand) request(file string) (r download.Request, err error) {
	r = v.common
	if r.Dir, r.Name = filepath.Dir(file), filepath.Base(file); objectstore.IsURL(file) {
		o := job.StoreOptions(agent(), time.Duration(v.Timeout), v.notes.Add)
		if r.Store, r.Name, err = job.ObjectAt(file, o); err != nil {
			return r, err
		}
	}
	switch {
	case v.document != nil:
		f, err := v.document.FileAt(file)
		if err != nil {
			return r, err
		}
		if r, err = v.document.Describe(f, r); err != nil {
			return r, err
		}
	case v.From != "":
		if r, err = v.asking(r, r.Name); err != nil {
			return r, err
		}
	}
	if err := v.sums.Vouch(&r); err != nil {
		return r, err
	}
	named, err := v.signaturesOf(&r, file)
	r.Signatures = append(named, r.Signatures...)
	return r, err
}

// signaturesOf returns the signatures of the file that the user names. With a list, the named signatures are
// those of the list. If the user names a key and no signature, the signature is beside the file.
func (v *verifyCommand) signaturesOf(r *download.Request, file string) ([]download.Signature, error) {
	switch {
	case v.sums.List != nil || v.From != "" && v.document == nil:
		return v.sums.OfFile(r.URL)
	case r.Store != nil:
		return v.SignaturesBeside(r.Name, nil)
	case v.From != "":
		return v.SignaturesBeside(file, nil)
	}
	return v.SignaturesBeside(file, r.Anchors.Besides())
}

// listed returns the files that the list names, in the order of the list, each once, as sha256sum -c does. A
// file that is not below the current folder is an error.
func (v *verifyCommand) listed() (paths []string, err error) {
	missing, seen := 0, map[string]bool{}
	for e, wrong := range v.sums.List.Lines() {
		path := filepath.Clean(filepath.FromSlash(e.Name))
		switch {
		case e.Name == "" && wrong != nil:
			return nil, &problem.Problem{
				Kind: download.Protocol, What: "verify", Where: v.sums.List.Name, Why: wrong.Error(),
				Hint: "name the files to check",
			}
		case e.Name == "" || e.Name == "-":
			continue
		case !filepath.IsLocal(path):
			return nil, &problem.Problem{
				Kind: download.Protocol, What: "verify", Where: v.sums.List.Name,
				Why:  fmt.Sprintf("line %d names %s, which is not below this folder", e.Line, source.Escape(e.Name)),
				Hint: "name the files to check",
			}
		case seen[path]:
			continue
		}
		seen[path] = true
		if _, err := os.Lstat(path); v.IgnoreMissing && os.IsNotExist(err) {
			missing++
			continue
		}
		paths = append(paths, path)
	}
	if len(paths) > 0 {
		return paths, nil
	}
	why := "it names no file"
	if missing > 0 {
		why = fmt.Sprintf("none of its %d files is here", missing)
	}
	return nil, &problem.Problem{
		Kind: download.NoEvidence, What: "verify", Where: v.sums.List.Name, Why: why,
		Hint: "name the files to check",
	}
}
