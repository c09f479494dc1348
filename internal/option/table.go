// Package option defines the options of the command: their names, how their values are written, and the files that can
// set them besides the command line. These files are the user's settings and lists of files to download. The package
// also generates the man pages and shell completions.
//
// The package opens no file, reads no environment variable and sends no request. An unknown name in a file is an error
// with its line: a misspelled option that protects the user must not be ignored.
//
//	size, err := option.ParseSize("1.5G")
//	text := option.SizeText(1536) // 1.5 KiB
package option

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Option is a row of the table of options. Each option is a flag, an environment variable (BRAID_LIMIT_RATE for
// --limit-rate) and a key of the settings.
type Option struct {
	Names    string // without dashes, separated by spaces; the first is used for the variable and the settings
	Of       Commands
	First    Commands // commands that show the option before all others in their help
	Also     Places
	ListName string // another name in lists of files, the one of aria2
	Group    Group
	Kind     Kind
	Words    string // words of a Choice, separated by |; if empty, they are in Usage
	Default  string // the default, if it is one word
	Usage    string // help text with the placeholder for the value in backquotes
}

// Places is a set of places, besides the command line, the environment and the settings, where an option may be used.
type Places uint8

// The places.
const (
	InSite  Places = 1 << iota // [site."..."] in the settings
	InLine                     // below a URL in a list of files
	InWatch                    // [watch.NAME] in the configuration of the watcher
)

// Commands is a set of commands.
type Commands uint32

// The commands that have options. The name of a subcommand includes the command above it.
const (
	Get Commands = 1 << iota
	Resume
	Probe
	Verify
	Meta
	Serve
	FeedFind
	FeedCheck
	FeedShow
	FeedConvert
	Watch
	PartsList
	PartsRemove
	Config
	Man
	Daemon
	Add
	Status
	Pause
	Unpause // "resume"
	Remove
	LFS
	Work
	Queue
	TrustList
	Follow

	// Controlling are the commands that control a daemon.
	Controlling = Add | Status | Pause | Unpause | Remove
	// Downloading are the commands that download files.
	Downloading = Get | Resume | Serving
	// Serving are the commands that run for long and download on request. Fleet are the commands that can use a job queue.
	Serving = Daemon | Work
	Fleet   = Get | Watch | Work | Queue | Daemon
	// Reading are the commands that read a feed. Requesting are the commands that send requests to servers that the user names.
	Reading    = FeedCheck | FeedShow | FeedConvert
	Requesting = Get | Resume | Probe | Verify | FeedFind | Reading
)

// typed has the names of the commands, in the order of the constants.
var typed = [...]string{"get", "parts resume", "probe", "verify", "meta", "serve", "feed find", "feed check",
	"feed show", "feed convert", "watch",
	"parts list", "parts remove", "config", "man", "daemon", "add", "status", "pause", "resume", "remove", "lfs", "work", "queue",
	"trust list", "follow"}

// Group is a group of options in the help. Its String is the heading.
type Group uint8

// The groups, in the order of the help.
const (
	FeedGroup Group = iota
	WatchGroup
	ServerGroup
	FileGroup
	ProofGroup
	SourcesGroup
	PeersGroup
	RequestsGroup
	OutputGroup
)

func (g Group) String() string {
	return [...]string{"Feed", "Watch", "Server", "File", "Proof", "Sources", "Peers", "Requests", "Output"}[g]
}

// MostUsed is the heading for options in the help of the commands in their First.
const MostUsed = "Most used"

// Kind is the type of an option's value. Of two options with the same name, the one with the larger Kind accepts the
// values of both.
type Kind uint8

// The kinds.
const (
	Switch Kind = iota + 1 // true or false
	Word                   // a string, a number or another text
	Choice                 // one of several words
	Number                 // at least 1
	Time                   // a duration; a bare number is seconds
	Period                 // a duration with a unit
	Size                   // bytes, with a unit
	Rate                   // bytes a second; 0 means no limit
	Words                  // one or several strings
	Rates                  // one Rate, or several by the time of day
)

// isAmount reports whether values are numbers of bytes. Then a small number without a unit is probably a mistake.
func (k Kind) isAmount() bool { return k == Size || k == Rate || k == Rates }

// isList reports whether an option of kind k may have several values.
func (k Kind) isList() bool { return k == Words || k == Rates }

func (k Kind) String() string {
	switch k {
	case Switch:
		return "true or false"
	case Words, Rates:
		return "a string or a list of strings"
	}
	return "a string"
}

// All returns all options. Options of different commands may share a name.
func All() iter.Seq[Option] {
	return func(yield func(Option) bool) {
		for _, table := range [][]Option{ofDownloads, ofOthers} {
			for _, o := range table {
				if !yield(o) {
					return
				}
			}
		}
	}
}

// Of returns the options that any of the commands in c has, sorted by group.
func Of(c Commands) (list []Option) {
	n := 0
	for o := range All() {
		if o.Of&c != 0 {
			n++
		}
	}
	list = make([]Option, 0, n)
	for o := range All() {
		if o.Of&c != 0 {
			list = append(list, o)
		}
	}
	slices.SortStableFunc(list, func(a, b Option) int { return cmp.Compare(a.Group, b.Group) })
	return list
}

// Typed returns the names of the commands in c as the user types them, such as "feed check".
func (c Commands) Typed() (names []string) {
	for i, name := range typed {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Name returns the first of the option's names.
func (o Option) Name() string {
	name, _, _ := strings.Cut(o.Names, " ")
	return name
}

// Heading returns the heading of the option in the help of c.
func (o Option) Heading(c Commands) string {
	if o.First&c != 0 {
		return MostUsed
	}
	return o.Group.String()
}

// Help returns the help text, with the placeholder of the value in backquotes.
func (o Option) Help() string {
	if o.Default != "" {
		return o.Usage + " (default " + o.Default + ")"
	}
	return o.Usage
}

// Choices returns the words that the option, a Choice, accepts.
func (o Option) Choices() []string {
	if o.Words != "" {
		return strings.Split(o.Words, "|")
	}
	_, rest, _ := strings.Cut(o.Usage, "`")
	words, _, _ := strings.Cut(rest, "`")
	return strings.Split(words, "|")
}

// WordsOf returns the words that the option of braid get with that name, a Choice, accepts.
func WordsOf(name string) []string {
	for _, o := range ofDownloads {
		if o.Name() == name {
			return o.Choices()
		}
	}
	return nil
}

// Variable returns the name of the environment variable for the option with that name.
func Variable(name string) string {
	return "BRAID_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// InList returns the name of the option that name stands for in a list of files. It returns false if lists have no such option.
func InList(name string) (string, bool) {
	for _, o := range ofDownloads {
		if o.Also&InLine != 0 && (name == o.Name() || name == o.ListName) {
			return o.Name(), true
		}
	}
	return "", false
}

// ListNames returns the names of the options that lists of files may have.
func ListNames() (names []string) {
	for _, o := range ofDownloads {
		if o.Also&InLine != 0 {
			names = append(names, o.Name())
		}
		if o.ListName != "" {
			names = append(names, o.ListName)
		}
	}
	slices.Sort(names)
	return names
}

// settable returns the options that the settings may have, by command. Those of a subcommand belong to the command above it.
func settable() known {
	all := known{}
	for o := range All() {
		for _, name := range o.Of.Typed() {
			top, _, _ := strings.Cut(name, " ")
			if all[top] == nil {
				all[top] = map[string]Kind{}
			}
			all[top][o.Name()] = max(all[top][o.Name()], o.Kind)
		}
	}
	return all
}

// siteKeys returns the keys that a site in the settings may have. They mean the same as the options. Only insecure is
// different: it is a switch for the site itself.
func siteKeys() map[string]Kind {
	keys := map[string]Kind{}
	for _, o := range ofDownloads {
		if o.Also&InSite != 0 {
			keys[o.Name()] = o.Kind
		}
	}
	keys["insecure"] = Switch
	return keys
}
