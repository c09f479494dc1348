package aria2c

import (
	"cmp"
	"io"
	"strings"

	"braid/internal/option"
	"braid/internal/render"
)

// WriteHelp lists the options and whether they have an effect.
func WriteHelp(w io.Writer) error {
	var b strings.Builder
	b.WriteString("Usage: aria2c [OPTIONS] [URI | MAGNET | TORRENT_FILE | METALINK_FILE]...\n\n" +
		"This is braid under the name of aria2c. It knows these options of aria2c:\n\n")
	var rows [][]string
	var ignored []string
	for _, o := range option.Aria2Options() {
		names := "--" + o.Name
		if o.Letter != "" {
			names = "-" + o.Letter + ", " + names
		}
		switch o.Fate {
		case option.Aria2Ignored:
			ignored = append(ignored, o.Name)
			continue
		case option.Aria2Refused, option.Aria2Warned:
			rows = append(rows, []string{names, o.Fate + behind(": ", o.Note)})
		default:
			rows = append(rows, []string{names, cmp.Or(o.Note, behind("as braid get --", o.Flag()))})
		}
	}
	for _, row := range render.Columns(rows) {
		b.WriteString("  " + row + "\n")
	}
	b.WriteString("\nThese have no effect on the file: " + strings.Join(ignored, ", ") + ".\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// says replaces texts about options of braid in messages by texts about options of aria2c.
var says = strings.NewReplacer("--sha256 HEX", "--checksum=sha-256=HEX", "--overwrite", "--allow-overwrite=true",
	"-u USER:PASSWORD", "--http-user and --http-passwd", "--cacert FILE",
	"--ca-certificate FILE",
	", or skip the check for one host with --insecure HOST", "", "--continue", "-c",
	"; to write to a program or a device, use -o -", "")

// Words returns text with the options of aria2c in place of braid's options. It returns "" if the text still has an
// option that aria2c does not have.
func Words(text string) string {
	text = says.Replace(Option(text))
	for word := range strings.FieldsSeq(text) {
		name, _, _ := strings.Cut(strings.TrimLeft(word, "("), "=")
		if name, ok := strings.CutPrefix(name, "--"); ok && !option.IsAria2(name) {
			return ""
		}
	}
	return text
}

// Option returns text with aria2c's options for certificates in place of the options of braid daemon.
func Option(text string) string { return certificates.Replace(text) }

var certificates = strings.NewReplacer("--tls-cert", "--rpc-certificate", "--tls-key", "--rpc-private-key")
