package option

import (
	"iter"
	"strings"
)

// plainly are the characters that roff would read otherwise than they are meant: "-" is a hyphen, and cannot be copied
// into a shell.
var plainly = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\`", "^", `\(ha`, "~", `\(ti`)

// plain is text for roff.
func plain(s string) string { return plainly.Replace(s) }

func bold(s string) string { return `\fB` + plain(s) + `\fR` }

// quote is an argument of a request.
func quote(s string) string { return `"` + strings.ReplaceAll(plain(s), `"`, `\(dq`) + `"` }

// guard keeps a line of text from being a request, which begins with a full stop or an apostrophe.
func guard(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}

// wrapped breaks text into lines that end before width where words allow it. roff fills lines anew; these are for those
// who read diffs. A sentence that ends within a line is followed by one space, as it is here.
func wrapped(s string, width int) iter.Seq[string] {
	return func(yield func(string) bool) {
		line := ""
		for _, word := range strings.Fields(s) {
			if line != "" && len(line)+1+len(word) > width {
				if !yield(line) {
					return
				}
				line = ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		if line != "" {
			yield(line)
		}
	}
}
