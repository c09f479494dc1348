package cli

import (
	"errors"
	"path/filepath"
	"strings"
	"time"

	"braid/internal/fsys"
	"braid/internal/once"
	"braid/internal/problem"
	"braid/metalink"
	"braid/verify"
)

// sumsFlags are the flags for writing a list of digests of all described files.
type sumsFlags struct{ Sums string }

// sumLine matches a line of such a list in the format of sha256sum: "DIGEST NAME", after a backslash if NAME has escapes.
var sumLine = once.Pattern(`^\\?[0-9a-f]{64}  .+$`)

// aSums and aSignature describe the list of digests and its signature file.
var (
	aSums = metaKind{looksLikeSums, errors.New("exists and is not a list of digests"),
		"replace the existing file with --overwrite"}

	aSignature = metaKind{func(head []byte) bool { _, ok := metalink.TextSignature(head); return ok },
		errors.New("exists and is not a signature"), "replace the existing file with --overwrite"}
)

// looksLikeSums reports whether head, the beginning of a file, consists of lines with digests. The last line may be incomplete.
func looksLikeSums(head []byte) bool {
	lines := strings.Split(string(head), "\n")
	for _, line := range lines[:len(lines)-1] {
		if !sumLine().MatchString(line) {
			return false
		}
	}
	return len(lines) > 1
}

// checkSums returns an error if the list of digests or its signature cannot be written.
func (v *metaCommand) checkSums(paths []string) error {
	if v.Sums == "" {
		return nil
	}
	seen := map[string]bool{}
	for _, path := range paths {
		name := filepath.Base(path)
		if seen[name] {
			return problem.Misuse("--sums", "two files have the name "+name,
				"give the files different names: a list has one digest for each name")
		}
		seen[name] = true
	}
	if err := v.checkOut(v.Sums, paths, aSums); err != nil || v.signer == nil {
		return err
	}
	return v.checkOut(v.Sums+v.signer.Kind().Beside[0], paths, aSignature)
}

// writeSums writes the list of digests and, with --sign-with, a signature of the list.
func (v *metaCommand) writeSums(paths []string) error {
	if v.Sums == "" {
		return nil
	}
	if err := v.checkSums(paths); err != nil { // while the files were hashed, the list may have been created
		return err
	}
	list := []byte(strings.Join(v.listedSums, ""))
	if err := v.place(v.Sums, list); err != nil || v.signer == nil {
		return err
	}
	signing, err := v.signer.Begin(filepath.Base(v.Sums), time.Now())
	if err != nil {
		return v.signFlags.failure(err)
	}
	signing.Write(list)
	sig, err := signing.Signature()
	if err != nil {
		return v.signFlags.failure(err)
	}
	return v.place(v.Sums+v.signer.Kind().Beside[0], sig)
}

// place writes data to path and reports that to the user.
func (v *metaCommand) place(path string, data []byte) error {
	if err := fsys.WriteFile(nil, path, data, 0o644); err != nil {
		return metaFailure(path, err)
	}
	v.tell("wrote %s", path)
	return nil
}

// addSum adds a line for f to the list of digests, in the format of sha256sum.
func (v *metaCommand) addSum(f metalink.File) {
	name := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`).Replace(f.Name)
	before := ""
	if name != f.Name {
		before = `\`
	}
	for _, c := range f.Claims {
		if c.Digest.Algorithm() == verify.SHA256 {
			v.listedSums = append(v.listedSums, before+c.Digest.Hex()+"  "+name+"\n")
		}
	}
}
