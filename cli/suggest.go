package cli

import (
	"regexp"
	"strings"
)

// foreign are flags of curl, wget and aria2 that get does not have, with the flag to write instead. The letters mean
// different things in those programs.
var foreign = map[string]string{
	"-C": "a second run of the same command goes on where the first ended; --overwrite replaces a file",
	"-I": "braid probe URL shows what a server says of a file",
	"-J": "--remote-name calls the file what the server calls it",
	"-O": "-o NAME names the file and -o - is standard output; without it the name comes from the URL",
	"-S": "errors are always shown, also with -q",
	"-T": "--timeout TIME limits silence",
	"-Z": "several URLs are several files, -j N of them at once; --mirror URL adds a mirror to one file, and -s limits the sources in use",
	"-k": "--insecure HOST leaves the certificate of one host unchecked, --cacert FILE names further authorities; ranges are sized by speed, and -s limits the sources",
	"-m": "--max-time TIME limits the whole, --timeout TIME silence, --tries N attempts",
	"-n": "-u USER:PASSWORD gives credentials; --no-clobber keeps a file that exists",
	"-t": "--tries N limits attempts; --timeout TIME limits silence",

	"--allow-overwrite":      "--overwrite replaces a file once the new one is verified",
	"--auto-file-renaming":   "--no-clobber keeps a file that exists, --overwrite replaces it, -o NAME takes another name",
	"--ca-certificate":       "--cacert FILE names further authorities",
	"--cert":                 "--client-cert FILE",
	"--certificate":          "--client-cert FILE",
	"--check-certificate":    "--insecure HOST leaves the certificate of one host unchecked, --cacert FILE names further authorities",
	"--content-disposition":  "--remote-name calls the file what the server calls it",
	"--continue-at":          "a second run of the same command goes on where the first ended",
	"--cookie":               "-H 'Cookie: NAME=VALUE', or --load-cookies FILE",
	"--create-dirs":          "-d FOLDER makes the folder",
	"--directory-prefix":     "-d FOLDER",
	"--fail":                 "that is so anyway: a refusal of the server is exit code 8, and no file",
	"--follow-metalink":      "--no-metalink saves a document as it is",
	"--follow-torrent":       "--no-metalink saves a torrent as it is",
	"--head":                 "braid probe URL shows what a server says of a file",
	"--http-passwd":          "-u USER:PASSWORD, or --netrc-file FILE",
	"--http-password":        "-u USER:PASSWORD, or --netrc-file FILE",
	"--http-user":            "-u USER:PASSWORD, or --netrc-file FILE",
	"--key":                  "--client-key FILE",
	"--max-download-limit":   "--limit-rate RATE",
	"--max-tries":            "--tries N",
	"--netrc":                "~/.netrc is read anyway; --netrc-file FILE names another",
	"--no-check-certificate": "--insecure HOST leaves the certificate of one host unchecked, --cacert FILE names further authorities",
	"--no-verbose":           "-q prints nothing but errors, --progress none leaves out the progress",
	"--output":               "-o NAME, also --out NAME; -o - is standard output",
	"--output-dir":           "-d FOLDER",
	"--output-document":      "-o NAME; -o - is standard output",
	"--parallel":             "several URLs are several files, and more than one at a time anyway; -j N says how many",
	"--parallel-max":         "-j N",
	"--password":             "-u USER:PASSWORD, or --netrc-file FILE",
	"--private-key":          "--client-key FILE",
	"--progress-bar":         "--progress bar",
	"--remote-header-name":   "--remote-name calls the file what the server calls it",
	"--remote-name-all":      "each URL is a file of that name anyway",
	"--retry":                "--tries N limits attempts without progress, --retry-wait TIME the pause before the second",
	"--retry-all-errors":     "--tries N limits attempts without progress",
	"--retry-delay":          "--retry-wait TIME",
	"--retry-max-time":       "--max-time TIME limits the whole",
	"--select-file":          "--select GLOB",
	"--server-response":      "-v says what happens; braid probe URL shows what a server says of a file",
	"--show-error":           "errors are always shown, also with -q",
	"--show-progress":        "--progress bar",
	"--silent":               "-q prints nothing but errors",
	"--spider":               "braid probe URL shows what a server says of a file",
	"--timestamping":         "-N replaces a file only by a newer one",
	"--trust-server-names":   "--remote-name calls the file what the server calls it",
	"--wait":                 "--retry-wait TIME is the pause before the second try",
	"--waitretry":            "--retry-wait TIME",
	"--lowest-speed-limit":   "a slow source loses its work to others by itself; --timeout TIME limits silence",
	"--speed-limit":          "a slow source loses its work to others by itself; --timeout TIME limits silence",
	"--max-redirs":           "redirects are followed, 10 at most",
	"--max-redirect":         "redirects are followed, 10 at most",
	"--max-filesize":         "--max-size SIZE",
	"--post-data":            "braid downloads files, and sends no forms",
	"--data":                 "braid downloads files, and sends no forms",
	"--request":              "braid downloads files, and sends no other requests",
	"--recursive":            "braid downloads files, and follows no links of pages; -i LIST takes many URLs",
	"--socks5":               "--proxy socks5://HOST:PORT",
	"--all-proxy":            "--proxy URL",
	"--http-proxy":           "--proxy URL",
	"--https-proxy":          "--proxy URL",
	"--check-integrity":      "braid verify FILE checks a file on disk, and can repair it",
	"--on-download-complete": "--on-complete COMMAND",
}

func foreignWhy(flag string) string {
	if strings.HasPrefix(flag, "--") {
		return unknownFlag
	}
	return "this letter means different things in other tools, and nothing here"
}

// foreignValues are values that only make sense for the flag of that name in another program: what is attached to -s in
// -fsSL are more letters, and --location takes no value.
var foreignValues = map[string]struct {
	value *regexp.Regexp
	hint  string
}{
	"split":    {regexp.MustCompile(`^[A-Za-z#]`), "-q prints nothing but errors, as -s does in curl; what -f, -L and -S say happens anyway"},
	"location": {regexp.MustCompile(`^-|[:/.]`), "redirects are followed anyway, as --location does it in curl"},
}

// foreignValue is the hint for such a value, or "".
func foreignValue(flag, value string) string {
	f, ok := foreignValues[flag]
	if !ok || !f.value.MatchString(value) {
		return ""
	}
	return f.hint
}
