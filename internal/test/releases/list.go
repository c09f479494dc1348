package releases

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"math/rand/v2"
	"strings"
)

// An algorithm makes the digests of a list.
type algorithm struct {
	name   string // in BSD's lines
	strong bool
	hex    func(string) string
}

var (
	sha256sum = algorithm{"SHA256", true, func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }}
	sha512sum = algorithm{"SHA512", true, func(s string) string { return fmt.Sprintf("%x", sha512.Sum512([]byte(s))) }}
	sha1sum   = algorithm{"SHA1", false, func(s string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(s))) }}
	md5sum    = algorithm{"MD5", false, func(s string) string { return fmt.Sprintf("%x", md5.Sum([]byte(s))) }}
)

// algorithmOf returns the algorithm of a list. Where the name does not say it, a few have another one than SHA-256.
func algorithmOf(list string, chance *rand.Rand) algorithm {
	s := strings.ToLower(list)
	switch {
	case strings.Contains(s, "512"):
		return sha512sum
	case strings.Contains(s, "256"):
		return sha256sum
	case strings.Contains(s, "sha1"):
		return sha1sum
	case strings.Contains(s, "md5"):
		return md5sum
	case strings.HasSuffix(s, ".sha") && chance.IntN(2) == 0:
		return sha1sum
	}
	switch chance.IntN(40) {
	case 0:
		return sha512sum
	case 1:
		return sha1sum
	}
	return sha256sum
}

// A form is a way to write a line: %d is the digest, %n the name, %a the algorithm.
type form struct {
	weight int
	line   string
}

var (
	listForms = []form{
		{70, "%d  %n\n"}, {12, "%d *%n\n"}, {4, "%a (%n) = %d\n"}, {3, "%d  ./%n\n"}, {3, "%d  %n\r\n"}, {2, "%D  %n\n"},
		{2, "# released\n\n%d  %n\n"}, {2, "%d  dist/%n\n"}, {2, "%d %n\n"},
	}
	ownForms = []form{
		{55, "%d  %n\n"}, {22, "%d\n"}, {8, "%d *%n\n"}, {4, "%a (%n) = %d\n"}, {4, "%d"}, {3, "%d  -\n"}, {2, "%d  %n\r\n"},
		{2, "%d  target/release/%n\n"},
	}
	stemForms = []form{{70, "%d  %n\n"}, {15, "%d *%n\n"}, {15, "%d\n"}}
)

func pick(forms []form, chance *rand.Rand) string {
	total := 0
	for _, f := range forms {
		total += f.weight
	}
	at := chance.IntN(total)
	for _, f := range forms {
		if at -= f.weight; at < 0 {
			return f.line
		}
	}
	return ""
}

// line writes a line of a list.
func line(form string, a algorithm, name, body string) string {
	d := a.hex(body)
	return strings.NewReplacer("%d", d, "%D", strings.ToUpper(d), "%n", name, "%a", a.name).Replace(form)
}

// list writes the list of a release.
func (n naming) write(a algorithm, bodies map[string]string, chance *rand.Rand) string {
	forms, files := listForms, n.files
	switch n.of {
	case ofFile:
		forms, files = ownForms, n.files[:1]
	case ofStem:
		forms, files = stemForms, n.files[:1]
	}
	chosen, text := pick(forms, chance), ""
	for _, file := range files {
		text += line(chosen, a, file, bodies[file])
	}
	return text
}
