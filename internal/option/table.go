// Package option is what the options of the command are: which there are, how their values are written and read, and
// the files that have them beside the command line: the user's settings, and lists of files to download. It writes the
// man pages, and completes lines in a shell.
//
// It opens no file, reads no environment and asks no server. A name that is no option is an error with its line, as
// what was meant to protect must not be passed over.
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

// An Option is a row of the table. Each is a flag, a variable (BRAID_LIMIT_RATE is --limit-rate) and a key of the settings.
type Option struct {
	Names    string // without dashes, separated by spaces: the first is that of the variable and the settings
	Of       Commands
	First    Commands // whose help shows it before all others
	Also     Places
	ListName string // another name in a list of files: that of aria2
	Group    Group
	Kind     Kind
	Words    string // of a Choice, separated by |; empty: those of the usage
	Default  string // if it is one word
	Usage    string // with what stands for the value in backquotes
}

// Places are where an option may stand beside the command line, the environment and the settings.
type Places uint8

// The places.
const (
	InSite  Places = 1 << iota // [site."..."] of the settings
	InLine                     // below a URL in a list of files
	InWatch                    // [watch.NAME] of the watcher's configuration
)

// Commands are some of the commands.
type Commands uint32

// The commands that have options, those below others with the names of both.
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

	// Controlling are those that ask a daemon.
	Controlling = Add | Status | Pause | Unpause | Remove
	// Downloading are those that download files, whatever names them.
	Downloading = Get | Resume | Serving
	// Serving are those that run for years and download what others ask for, and Fleet those that have a queue in common.
	Serving = Daemon | Work
	Fleet   = Get | Watch | Work | Queue | Daemon
	// Reading are those that read a feed, and Requesting those that ask servers for what the user names.
	Reading    = FeedCheck | FeedShow | FeedConvert
	Requesting = Get | Resume | Probe | Verify | FeedFind | Reading
)

// typed are the names of commands.
var typed = [...]string{"get", "parts resume", "probe", "verify", "meta", "serve", "feed find", "feed check", "feed show", "feed convert", "watch",
	"parts list", "parts remove", "config", "man", "daemon", "add", "status", "pause", "resume", "remove", "lfs", "work", "queue"}

// A Group is a heading of the help.
type Group uint8

// The groups, in their order.
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

// MostUsed is the heading of the options that are First.
const MostUsed = "Most used"

// A Kind is what an option takes. Of two options of one name the larger Kind takes what both do.
type Kind uint8

// The kinds.
const (
	Switch Kind = iota + 1 // true or false
	Word                   // a string, a number, or something of a form of its own
	Choice                 // one of a few words
	Number                 // at least 1
	Time                   // a duration; a bare number is seconds
	Period                 // a duration with a unit
	Size                   // bytes, with their unit
	Rate                   // bytes a second; 0 is no limit
	Words                  // one string or several
	Rates                  // bytes a second, one Rate or several by the time of day
)

// isAmount reports whether the values are bytes, of which a few make no sense.
func (k Kind) isAmount() bool { return k == Size || k == Rate || k == Rates }

// isList reports whether there may be several values.
func (k Kind) isList() bool { return k == Words || k == Rates }

func (k Kind) String() string {
	switch k {
	case Switch:
		return "true or false"
	case Words, Rates:
		return "a string or a list of them"
	}
	return "a string"
}

// All returns all options. A name may be that of several, which differ by command.
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

// Of returns the options of commands, by group.
func Of(c Commands) (list []Option) {
	for o := range All() {
		if o.Of&c != 0 {
			list = append(list, o)
		}
	}
	slices.SortStableFunc(list, func(a, b Option) int { return cmp.Compare(a.Group, b.Group) })
	return list
}

// Typed are the names of commands as they are typed: "feed check".
func (c Commands) Typed() (names []string) {
	for i, name := range typed {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Name is the first name.
func (o Option) Name() string {
	name, _, _ := strings.Cut(o.Names, " ")
	return name
}

// Heading is where the help of c shows the option.
func (o Option) Heading(c Commands) string {
	if o.First&c != 0 {
		return MostUsed
	}
	return o.Group.String()
}

// Help is what the help says, with what stands for the value in backquotes.
func (o Option) Help() string {
	if o.Default != "" {
		return o.Usage + " (default " + o.Default + ")"
	}
	return o.Usage
}

// Choices are the words that a Choice takes.
func (o Option) Choices() []string {
	if o.Words != "" {
		return strings.Split(o.Words, "|")
	}
	_, rest, _ := strings.Cut(o.Usage, "`")
	words, _, _ := strings.Cut(rest, "`")
	return strings.Split(words, "|")
}

// WordsOf are the words that an option of downloads takes, a Choice.
func WordsOf(name string) []string {
	for _, o := range ofDownloads {
		if o.Name() == name {
			return o.Choices()
		}
	}
	return nil
}

// Variable is the variable of the environment for a name.
func Variable(name string) string {
	return "BRAID_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// InList returns the name of the option that a line of a list means, as far as one may stand there.
func InList(name string) (string, bool) {
	for _, o := range ofDownloads {
		if o.Also&InLine != 0 && (name == o.Name() || name == o.ListName) {
			return o.Name(), true
		}
	}
	return "", false
}

// ListNames are the names that lines of a list may have.
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

// settable are the options of the settings by command; those of commands below another one are that one's.
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

// siteKeys are the keys of a site. They mean what the options do, but that insecure is about the site itself.
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
