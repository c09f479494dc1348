package lookup

import (
	"bufio"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"braid/verify"
)

func namesOf(all []Candidate) string {
	var names []string
	for _, c := range all {
		if c.Own {
			c.Name = "=" + c.Name
		}
		names = append(names, c.Name)
	}
	return strings.Join(names, " ")
}

func TestCandidates(t *testing.T) {
	for _, tt := range []struct{ names, file, want string }{
		{"", "disk.iso", ""},
		{"disk.iso other.iso readme.txt", "disk.iso", ""},
		{"disk.iso disk.iso.sha256 SHA256SUMS SHA512SUMS checksums.txt", "disk.iso",
			"=disk.iso.sha256 SHA512SUMS SHA256SUMS checksums.txt"},
		{"disk.iso disk.iso.SHA512 disk.iso.sha256sum.txt disk.iso.sha", "disk.iso",
			"=disk.iso.SHA512 =disk.iso.sha256sum.txt =disk.iso.sha"},
		{"disk.iso a.iso a.iso.sha256 disk.iso.sha256", "disk.iso", "=disk.iso.sha256"},
		{"disk.iso disk.iso.md5 disk.iso.sha1 md5checksums.txt sha1sums MD5SUMS SHA1SUMS B2SUMS.digests", "disk.iso",
			""},
		{"disk.iso SHA256SUMS SHA256SUMS.asc SHA256SUMS.sig checksums.txt.minisig checksums.txt.pem checksums.json",
			"disk.iso", "SHA256SUMS"},
		{"disk.iso sha256sums.asc checksums.txt.asc disk.iso.sha256.asc md5sums.asc notes.asc", "disk.iso",
			"sha256sums.asc checksums.txt.asc"},
		{"disk.iso SHA256SUMS SHA256SUMS.old SHA512SUMS.BAK checksums.txt.orig checksums.txt~ disk.iso.sha256.prev " +
			"sha256sum.txt.Save", "disk.iso", "SHA256SUMS"},
		{"tool_2_amd64.zip tool_1_checksums.txt tool_2_checksums.txt checksums.txt", "tool_2_amd64.zip",
			"tool_2_checksums.txt tool_1_checksums.txt checksums.txt"},
		{"go-sha256-1.0.tar.gz sha256sum.txt", "go-sha256-1.0.tar.gz", "sha256sum.txt"},
		{"x.iso CHECKSUM.SHA256-x SHASUMS256.txt Shasums512.TXT x.Digests sha256digests", "x.iso",
			"Shasums512.TXT sha256digests SHASUMS256.txt CHECKSUM.SHA256-x x.Digests"},
	} {
		if got := namesOf(NewIndex(strings.Fields(tt.names)).Candidates(tt.file)); got != tt.want {
			t.Errorf("%s in %s:\ngot  %s\nwant %s", tt.file, tt.names, got, tt.want)
		}
	}
	if got := namesOf(Guesses("disk.iso")); got != "=disk.iso.sha256 SHA256SUMS sha256sum.txt checksums.txt" {
		t.Errorf("guesses: %s", got)
	}
}

// TestListNames: of the names of lists in releases of real projects nearly all are found that can have a strong digest.
func TestListNames(t *testing.T) {
	f, err := os.Open("testdata/list-names.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found, strong := 0, 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		count, name, ok := strings.Cut(lines.Text(), "\t")
		n, err := strconv.Atoi(count)
		if !ok || err != nil || strings.HasSuffix(name, ".md5") || strings.Contains(name, "sha1") {
			continue
		}
		strong += n
		const file = "disk-1.2.iso"
		name = strings.Replace(name, "X.sha", file+".sha", 1)
		name = strings.ReplaceAll(name, "X", "1.2")
		if len(NewIndex([]string{file, name}).Candidates(file)) == 1 {
			found += n
		} else {
			t.Logf("not found: %d %s", n, name)
		}
	}
	if strong != 2255 || found < strong*98/100 {
		t.Errorf("%d of %d", found, strong)
	}
}

const (
	h256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	o256 = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
	h512 = "ee26b0dd4af7e749aa1a8ee3c10ae9923f618980772e473f8819a5d4940e0db27ac185f8a0e1d5f84f88bc887fd67b143732c304cc5fa9ad8e6f57f50028a8ff"
	h5   = "098f6bcd4621d373cade4e832627b4f6"
)

func TestRead_Rule77(t *testing.T) {
	const conflict = "contradiction"
	zeros := strings.Repeat("0", 64)
	for _, tt := range []struct{ list, text, want string }{
		{"SHA256SUMS", h256 + "  disk.iso\n" + o256 + "  a\n", "sha-256 from SHA256SUMS beside it over https"},
		{"SHA256SUMS", h256 + " *./disk.iso\n", "sha-256 from SHA256SUMS beside it over https"},
		{"checksums.txt", "# all\n" + h512 + "  disk.iso\n" + h256 + "  disk.iso\n" + h5 + "  disk.iso\n",
			"sha-512 from checksums.txt beside it over https; sha-256 from checksums.txt beside it over https"},
		{"checksums.txt", "SHA256 (disk.iso) = " + h256, "sha-256 from checksums.txt beside it over https"},
		{"disk.iso.sha256", h256 + "\n", "sha-256 from disk.iso.sha256 beside it over https"},
		{"disk.iso.sha256", h256 + "  -\n", "sha-256 from disk.iso.sha256 beside it over https"},
		{"disk.iso.sha256", h256 + "  disk.iso\n", "sha-256 from disk.iso.sha256 beside it over https"},
		{"disk.iso.sha", h256, "sha-256 from disk.iso.sha beside it over https"},
		{"a\x1b.sha256", h256 + "  disk.iso", `sha-256 from a\x1b.sha256 beside it over https`},
		{"SHA256SUMS", h256 + "  disk.iso\n" + h256 + "  disk.iso\n", "sha-256 from SHA256SUMS beside it over https"},

		{"SHA256SUMS", h256 + "  disk.iso\n" + o256 + "  ./disk.iso\n", conflict},
		{"disk.iso.sha256", h256 + "\n" + o256, conflict},
		{"SHA256SUMS", zeros + "  disk.iso\n" + h256 + "  disk.iso\n", "sha-256 from SHA256SUMS beside it over https"},
		{"SHA256SUMS", zeros + "  disk.iso\n", ErrNotInIt.Error()},
		{"SHA256SUMS", h256, ErrNotInIt.Error()},
		{"SHA256SUMS", h256 + "  -", ErrNotInIt.Error()},
		{"SHA256SUMS", h256 + "  Disk.iso", ErrNotInIt.Error()},
		{"SHA256SUMS", h256 + "  x/disk.iso", ErrNotInIt.Error()},
		{"SHA256SUMS", h256 + "  ../disk.iso", ErrNotInIt.Error()},
		{"SHA256SUMS", h256 + "  /disk.iso", ErrNotInIt.Error()},
		{"disk.iso.sha256", h256 + "  other.iso", ErrNotInIt.Error()},
		{"checksums.txt", h5 + "  disk.iso", ErrNotInIt.Error()},
		{"SHA256SUMS", "", ErrNoList.Error()},
		{"SHA256SUMS", "Not found\n" + h256 + "  disk.iso\n", ErrNoList.Error()},
		{"disk.iso.sha256", "<html><body>disk.iso " + h256 + "</body></html>", ErrNoList.Error()},
		{"SHA256SUMS", "<!doctype html>\n<pre>\n" + h256 + "  disk.iso\n</pre>", ErrNoList.Error()},
		{"SHA256SUMS", h256 + "  disk.iso\n<!-- -->\n", ErrNoList.Error()},
		{"disk.iso.sha256", h512, ErrNoList.Error()},
		{"B2SUMS.sha256", h256[:63] + "  disk.iso", ErrNoList.Error()},
		{"SHA256SUMS", h256 + "\x00  disk.iso", ErrNoList.Error()},
		{"SHA256SUMS", "-----BEGIN PGP SIGNATURE-----\n", ErrNoList.Error()},
	} {
		c := Candidate{Name: tt.list, Own: strings.HasPrefix(tt.list, "disk.iso.")}
		list, err := c.Read([]byte(tt.text))
		var claims []verify.Claim
		if err == nil {
			claims, err = list.Claims("disk.iso", verify.HTTPS)
		}
		var words []string
		for _, c := range claims {
			words = append(words, c.String())
		}
		got := strings.Join(words, "; ")
		if _, ok := errors.AsType[*verify.ConflictError](err); ok {
			got = conflict
		} else if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s, %q:\ngot  %s\nwant %s", tt.list, tt.text, got, tt.want)
		}
	}
}
