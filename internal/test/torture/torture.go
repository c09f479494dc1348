// Package torture runs a download client against servers that misbehave, and classifies the results. The table of cases
// is in its tests. Each row has the number of its rule in doc/rules.md, the behavior of the server, and the expected
// result.
//
// Each case has its own folders: the target folder, which contains a foreign file and a symbolic link to the outside,
// and folders around it. Their content is compared before and after the run. The function judge determines the class of
// a run, which is the worst event that was observed.
//
//	go test ./internal/test/torture            # braid, the whole table once, every row as the table wants it
//	./scripts/torture --client aria2 --runs 3  # another client, the worst of three runs, as a table
//
// The package does not look into a client: it sees command line, exit code, output, files and requests, as a user and a
// server do. Other clients than braid have no expected results, and do not run the cases that only braid supports
// (feeds, signatures).
package torture

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// class is the result of a run. Greater classes are worse.
type class int

const (
	inapplicable class = iota // the client does not support the request
	right                     // exit code 0, and the right bytes under the final name, verified according to the client
	unverified                // the same, but unverified according to the client
	refused                   // a reported failure that left the final name unchanged
	left                      // a failure that changed the file of the final name
	silent                    // a failure without a message
	nothing                   // exit code 0, but no file
	named                     // a file in the target folder under a name that the user did not give
	disk                      // disk usage above the limit
	memory                    // memory usage above the limit
	wrong                     // exit code 0, but not the right bytes
	hang                      // above the time limit
	raw                       // control characters from the server in the output
	leak                      // a secret in a wrong place
	escape                    // a foreign file was touched
	crash                     // a signal or a panic
)

// classes lists all classes, with their words in the table.
var classes = []struct {
	class class
	word  string
}{
	{inapplicable, "not applicable"}, {right, "right"}, {unverified, "right, unverified"}, {refused, "clean failure"},
	{left, "partial left"}, {silent, "silent"}, {nothing, "exit 0, no file"}, {named, "other name"}, {disk, "disk"}, {memory, "memory"}, {wrong, "wrong file"}, {hang, "hang"},
	{raw, "terminal"}, {leak, "leak"}, {escape, "escape"}, {crash, "crash"},
}

func (c class) String() string { return classes[c].word }

// want is the expected result of a case.
type want struct {
	class class
	codes []int  // exit codes of a failure: one of these
	words string // a regular expression for the output
}

// state is the state of a final name.
type state int

const (
	absent state = iota
	old          // the file from before the run
	whole        // the right bytes
	other        // other bytes
)

// observation is everything that was observed in a run.
type observation struct {
	code     int
	signal   string // that ended the run, or ""
	overtime bool
	output   string // standard output and standard error
	errors   string // standard error

	files   map[string]state // by final name
	several bool             // a failure may be about another file
	added   []string         // new files in the target folder that do not belong to the download
	touched []string         // foreign files that were changed, and new files elsewhere
	leaks   []string         // places where secrets were found
	memory  int64            // peak, in bytes
	disk    int64            // peak of the target folder, in bytes
}

// limits are the limits of a run.
type limits struct {
	memory, disk int64
}

// verdict is a class and its reason.
type verdict struct {
	class class
	why   string
}

// judge determines the class of a run: the worst event, from crash to raw and then in the order of the classes.
func judge(o observation, l limits) verdict {
	if v := trespasses(o, l); v.class != inapplicable {
		return v
	}
	missing, spoiled := o.look()
	switch {
	case o.code == 0 && len(spoiled) > 0:
		return verdict{wrong, fmt.Sprintf("exit code 0, and not the right bytes in %s", strings.Join(spoiled, ", "))}
	case o.memory > l.memory:
		return verdict{memory, fmt.Sprintf("%d MiB of memory", o.memory>>20)}
	case o.disk > l.disk || o.signal == overfull:
		return verdict{disk, fmt.Sprintf("%d KiB on disk", o.disk>>10)}
	case len(o.added) > 0:
		return verdict{named, "made " + strings.Join(o.added, ", ")}
	case o.code == 0 && len(missing) > 0:
		return verdict{nothing, fmt.Sprintf("exit code 0, and nothing new in %s", strings.Join(missing, ", "))}
	case o.code == 0 && saysUnverified(o.output):
		return verdict{unverified, "exit code 0, and says that nothing proved it"}
	case o.code == 0:
		return verdict{right, "exit code 0"}
	case len(spoiled) > 0:
		return verdict{left, fmt.Sprintf("exit code %d, and something in %s", o.code, strings.Join(spoiled, ", "))}
	case strings.TrimSpace(o.output) == "":
		return verdict{silent, fmt.Sprintf("exit code %d and no message", o.code)}
	}
	return verdict{refused, fmt.Sprintf("exit code %d: %s", o.code, lastLine(o.errors+"\n"+o.output))}
}

// trespasses checks for events that are never allowed, whatever the result of the run.
func trespasses(o observation, l limits) verdict {
	switch {
	case o.overtime:
		return verdict{hang, "over the time limit; last said: " + lastLine(o.output)}
	case o.signal != "" && o.signal != overfull:
		return verdict{crash, "ended by " + o.signal}
	case panicked.MatchString(o.errors):
		return verdict{crash, panicked.FindString(o.errors)}
	case len(o.touched) > 0:
		return verdict{escape, "touched " + strings.Join(o.touched, ", ")}
	case len(o.leaks) > 0:
		return verdict{leak, strings.Join(o.leaks, ", ")}
	case control.MatchString(o.output):
		return verdict{raw, fmt.Sprintf("printed %q", control.FindString(o.output))}
	}
	return verdict{}
}

// overfull is the signal for a file above the size limit.
const overfull = "file size limit exceeded"

// panicked matches the output of a Go program that crashes.
var panicked = regexp.MustCompile(`(?m)^(panic: |fatal error: |SIG[A-Z]+: |goroutine \d+ .*\[).*`)

// control matches characters that can affect a terminal: C0 except tab, line feed and carriage return, DEL, C1, and
// characters that change the direction of text (rules 10 and 61).
var control = regexp.MustCompile(`[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x{80}-\x{9f}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]+.{0,20}`)

// look returns the final names without the right file, and those whose file is neither the right one nor the old one.
func (o observation) look() (missing, spoiled []string) {
	for name, s := range o.files {
		switch {
		case s == absent, s == old:
			missing = append(missing, name)
		case s == other, s == whole && o.code != 0 && !o.several:
			spoiled = append(spoiled, name)
		}
	}
	slices.Sort(missing)
	slices.Sort(spoiled)
	return missing, spoiled
}

// saysUnverified reports whether braid's output calls a file unverified.
func saysUnverified(output string) bool { return unproven.MatchString(output) }

var unproven = regexp.MustCompile(`(?m); (unverified|checked)\b|evidence="?unverified`)

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// meets returns why a verdict differs from the expected result, or an empty string.
func (w want) meets(v verdict, o observation) string {
	switch {
	case v.class != w.class:
		return fmt.Sprintf("%v (%s), want %v", v.class, v.why, w.class)
	case w.class == refused && !slices.Contains(w.codes, o.code):
		return fmt.Sprintf("exit code %d (%s), want one of %v", o.code, v.why, w.codes)
	case !regexp.MustCompile(w.words).MatchString(o.output):
		return fmt.Sprintf("%s; the output does not match %q", v.why, w.words)
	}
	return ""
}
