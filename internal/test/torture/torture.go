// Package torture runs a download client against servers that misbehave, and says what became of it. Its table of cases
// is in its tests, each row with the number of its rule in doc/rules.md, what the server does, and how the client has to end.
//
// A case has a folder of its own: the target folder with somebody else's file and a symbolic link that leads out of it,
// and what lies around it. Afterwards everything is compared with before. What a client did is put into a class by judge,
// a function of values; the worst thing that happened is the class.
//
//	go test ./internal/test/torture                        # braid, the whole table once, every row as the table wants it
//	./scripts/torture --client aria2 --runs 3         # another client, the worst of three runs, as a table
//
// It refuses to know why a client did something: it sees command line, exit code, output, files and requests, as a user
// and a server do. For other clients than braid there are no expectations, and what a case asks of braid alone (feeds,
// signatures) is not put to them.
package torture

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A class is what became of a run. The greater one is the worse.
type class int

const (
	inapplicable class = iota // the client has no such thing
	right                     // exit code 0, the right bytes under the final name, proven if the client says so
	unverified                // the same, and the client says that nothing proved it
	refused                   // a failure that says so, and under the final name what was there before
	left                      // a failure, and under the final name something else than before
	silent                    // a failure without a word
	nothing                   // exit code 0, and no file
	named                     // a file in the target folder under a name that the user did not give
	disk                      // more on disk than the limit
	memory                    // more in memory than the limit
	wrong                     // exit code 0 and not the right bytes
	hang                      // over the time limit
	raw                       // control characters of the server's in the output
	leak                      // a secret where it does not belong
	escape                    // a file touched that is none of the download's
	crash                     // a signal or a panic
)

// classes are all of them, with the words of the table.
var classes = []struct {
	class class
	word  string
}{
	{inapplicable, "not applicable"}, {right, "right"}, {unverified, "right, unverified"}, {refused, "clean failure"},
	{left, "partial left"}, {silent, "silent"}, {nothing, "exit 0, no file"}, {named, "other name"}, {disk, "disk"}, {memory, "memory"}, {wrong, "wrong file"}, {hang, "hang"},
	{raw, "terminal"}, {leak, "leak"}, {escape, "escape"}, {crash, "crash"},
}

func (c class) String() string { return classes[c].word }

// A want is how a case has to end.
type want struct {
	class class
	codes []int  // of a failure: one of these
	words string // a regular expression that the output matches
}

// A state is what is under a final name.
type state int

const (
	absent state = iota
	old          // what was there before the run
	whole        // the right bytes
	other        // something else
)

// An observation is all that can be seen of a run.
type observation struct {
	code     int
	signal   string // that ended it, ""
	overtime bool
	output   string // standard output and standard error
	errors   string // standard error

	files   map[string]state // by final name
	several bool             // a failure may be of another file
	added   []string         // what came into the target folder beside the files of the download
	touched []string         // what is none of the download's and changed, or came elsewhere
	leaks   []string         // where secrets went
	memory  int64            // most of it, in bytes
	disk    int64            // most of it in the target folder, in bytes
}

// Limits of a run.
type limits struct {
	memory, disk int64
}

// A verdict is a class and what it is founded on.
type verdict struct {
	class class
	why   string
}

// judge puts a run into a class: the worst thing that happened, of crash to terminal, and then in the order of the classes.
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

// trespasses are what no run may do, however it ends.
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

// overfull is the signal for a file that is longer than it may be.
const overfull = "file size limit exceeded"

// panicked is how a program of Go's ends that has lost its way.
var panicked = regexp.MustCompile(`(?m)^(panic: |fatal error: |SIG[A-Z]+: |goroutine \d+ .*\[).*`)

// control is what can do something to a terminal: C0 but for tab, line feed and carriage return, DEL, C1, and what turns
// the direction of writing (rules 10 and 61).
var control = regexp.MustCompile(`[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x{80}-\x{9f}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]+.{0,20}`)

// look finds the final names that are not as they should be after success, and those that are not as before.
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

// saysUnverified tells braid's word for a file that nothing proved.
func saysUnverified(output string) bool { return unproven.MatchString(output) }

var unproven = regexp.MustCompile(`(?m); (unverified|checked)\b|evidence="?unverified`)

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// meets says why a verdict is not what the table wants, or "".
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
