package cli

import (
	"cmp"
	"errors"
	"os"
	"regexp"
	"strings"

	"braid/download"
	"braid/internal/job"
	"braid/internal/once"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/metalink/metainfo"
)

// A line is a parsed command line.
type line struct {
	command option.Command
	args    []string // command line for the flag parser
	shows   string   // text to print instead: help or the version

	configuration *job.Settings
	places        map[string]string // where in the configuration a value was set, by flag; only for values from there
}

// readLine parses words, the command line without the name of the program.
func readLine(words []string) (*line, error) {
	program := option.Braid()
	if len(words) > 0 && words[0] == "help" {
		words = append(words[1:len(words):len(words)], "--help")
	}
	if len(words) == 0 {
		return nil, problem.Misuse("", "missing command", "braid --help; "+thereAre(program.Command))
	}
	if words[0] == "version" || words[0] == "-v" && len(words) == 1 {
		if len(words) > 1 {
			return nil, problem.Misuse("version", "takes no arguments", "braid --version")
		}
		return &line{shows: version()}, nil
	}
	if strings.HasPrefix(words[0], "-") {
		return readRoot(program, words[0])
	}
	command, rest, err := descend(program.Command, words)
	if err != nil {
		return nil, err
	}
	a, err := arrange(rest, shapesOf(command.Options, ignoredBy(command.Name)...))
	if err != nil {
		return nil, explainFlag(err, command)
	}
	l := &line{command: command}
	if a.has("help") {
		l.shows = helpOf(command)
		return l, nil
	}
	if len(command.Commands) > 0 {
		return nil, problem.Misuse(command.Name, "missing command", thereAre(command))
	}
	if err := checkEnvironment(command.Options, &a); err != nil {
		return nil, err
	}
	a.beatEnvironment()
	if err := l.configure(&a); err != nil {
		return nil, err
	}
	l.args = a.args()
	return l, nil
}

// configure adds the configuration's options to a, the flags of the command line.
func (l *line) configure(a *arranged) (err error) {
	if l.configuration, err = job.ReadSettings(); err != nil {
		return err
	}
	top, _, _ := strings.Cut(l.command.Name, " ")
	switch l.command.Name {
	case "config": // braid config shows the configuration, but its own options are not in it
		return nil
	case "parts resume": // braid parts resume continues downloads of braid get
		top = "get"
	}
	l.places = fill(l.configuration, top, l.command.Options, a)
	return nil
}

// readRoot parses word, a flag before any command.
func readRoot(program option.Program, word string) (*line, error) {
	a, err := arrange([]string{word}, shapesOf(program.Options))
	switch {
	case err == nil && a.has("help"):
		return &line{shows: rootHelp(program.Command)}, nil
	case err == nil:
		return &line{shows: version()}, nil
	}
	f := explainFlag(err, program.Command)
	if hint := option.Foreign(f.Where); hint != "" {
		f.Hint = hint
		return nil, f
	}
	for _, c := range program.Commands {
		a, err := arrange([]string{word, ""}, shapesOf(c.Options, ignoredBy(c.Name)...))
		if err != nil {
			continue
		}
		f.Hint = "flags follow the command: braid " + c.Name + " " + f.Where
		for _, flag := range a.flags { // word may be several letters of curl; the last letter then has a value
			name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
			if hint := foreignValue(name, value); hint != "" && c.Name == "get" {
				f.Hint = "braid get URL; " + hint
			}
		}
		break
	}
	return nil, f
}

// version returns the text of --version.
func version() string { return "braid " + thisBuild().String() + "\n" }

// ignoredByGet are letters of curl that are the default in braid: follow redirects (-L), and fail if a server refuses (-f).
var ignoredByGet = []string{"L", "f"}

func ignoredBy(command string) []string {
	if command == "get" {
		return ignoredByGet
	}
	return nil
}

// descend returns the command below c that the first of words name, and the other words.
func descend(c option.Command, words []string) (option.Command, []string, error) {
	first, known := c.Below(words[0])
	switch {
	case !known && isDownload(words[0]):
		first, _ = c.Below("get")
		return first, words, nil
	case !known:
		return c, nil, unknownCommand(c, words[0])
	}
	c, words = first, words[1:]
	if len(c.Commands) == 0 || len(words) > 0 && (words[0] == "-h" || words[0] == "--help") {
		return c, words, nil
	}
	if c.Name == "parts" { // the word list may be omitted
		if len(words) > 0 {
			if named, ok := c.Below(words[0]); ok {
				return named, words[1:], nil
			}
		}
		c, _ = c.Below("list")
		return c, words, nil
	}
	if c.Name == "trust" && (len(words) == 0 || strings.HasPrefix(words[0], "-")) {
		c, _ = c.Below("list")
		return c, words, nil
	}
	if len(words) == 0 || strings.HasPrefix(words[0], "-") {
		return c, words, nil
	}
	named, ok := c.Below(words[0])
	if !ok {
		return c, nil, unknownCommand(c, words[0])
	}
	return named, words[1:], nil
}

// isDownload reports whether word can only be an operand of get: a URL, a magnet link, or a local document.
func isDownload(word string) bool {
	if job.IsURL(word) || metainfo.IsMagnet(word) {
		return true
	}
	info, err := os.Stat(word)
	return download.IsDocument(word) && err == nil && info.Mode().IsRegular()
}

func unknownCommand(c option.Command, word string) *problem.Problem {
	isTop := c.Name == "braid"
	where := job.MaskWord(word)
	if !isTop {
		where = c.Name + " " + where
	}
	hint := thereAre(c)
	if isTop && download.IsDocument(word) {
		return problem.Misuse(where, "is neither a command nor an existing file", hint)
	}
	if isTop && job.LooksLikeHost(word) {
		hint = "braid https://" + job.MaskWord(word) + "?"
	} else if name := option.Nearest(word, c.Names()); name != "" {
		hint = "did you mean " + name + "?"
	}
	return problem.Misuse(where, "unknown command", hint)
}

func thereAre(c option.Command) string { return "choose one of " + strings.Join(c.Names(), ", ") }

// explainFlag converts err, the error for a wrong flag of c, to a problem with a hint about the right flag.
func explainFlag(err error, c option.Command) *problem.Problem {
	command := c.Name
	if command == "braid" {
		command = ""
	}
	e, ok := errors.AsType[*flagError](err)
	if !ok {
		return problem.Misuse(command, err.Error(), "")
	}
	hint := strings.TrimSpace("braid "+command) + " --help"
	if e.Why == unknownFlag {
		if hint := option.Foreign(e.Flag); hint != "" &&
			(command == "get" || command == "daemon" && strings.HasPrefix(e.Flag, "--")) {
			return problem.Misuse(e.Flag, unknownFlag, hint)
		}
		if hint := elsewhere[command+" "+e.Flag]; hint != "" {
			return problem.Misuse(e.Flag, e.Why, hint)
		}
		if get, _ := option.Braid().Below("get"); command == "" &&
			shapesOf(get.Options)[strings.TrimLeft(e.Flag, "-")].name != "" {
			return problem.Misuse(e.Flag, e.Why, "this is an option of get: braid get "+e.Flag)
		}
		var names []string
		for _, o := range c.Options {
			for name := range strings.FieldsSeq(o.Names) {
				if len(name) > 1 {
					names = append(names, name)
				}
			}
		}
		if name := option.Nearest(strings.TrimLeft(e.Flag, "-"), names); name != "" && strings.HasPrefix(e.Flag, "--") {
			hint = "did you mean --" + name + "?"
		}
	}
	return problem.Misuse(e.Flag, e.Why, hint)
}

// elsewhere maps "COMMAND FLAG" to a hint. The flags belong to aria2c or to braid get, and COMMAND does not have them.
var elsewhere = map[string]string{
	"daemon --enable-rpc":   "leave it out: braid daemon always serves RPC",
	"daemon --rpc-secret":   "print the token with braid daemon token",
	"daemon --input-file":   "add URLs to the daemon's queue with braid add",
	"daemon -i":             "add URLs to the daemon's queue with braid add",
	"daemon --save-session": "leave it out: the queue is always saved, in the folder of --state",
	"daemon --conf-path":    "show the settings and their file with braid config",
}

// checkEnvironment rejects empty environment variables for flags that take a value, unless the command line has the
// flag: there, an empty value is an error anyway.
func checkEnvironment(options []option.Option, given *arranged) error {
	for _, o := range options {
		if o.Kind == option.Switch || given.has(o.Name()) {
			continue
		}
		if value, set := os.LookupEnv(option.Variable(o.Name())); set && value == "" {
			return problem.Misuse(option.Variable(o.Name()), emptyValue, "unset the variable, or give it a value")
		}
	}
	return nil
}

// opposites are pairs of flags that contradict each other.
var opposites = [][2]string{{"quiet", "verbose"}, {"verbose", "quiet"}, {"overwrite", "no-clobber"}, {"no-clobber", "overwrite"},
	{"if-newer", "no-clobber"}, {"no-clobber", "if-newer"}}

// beatEnvironment adds --FLAG=false for each FLAG in the environment that contradicts a flag on the command line.
func (a *arranged) beatEnvironment() {
	for _, o := range opposites {
		if a.has(o[0]) && !a.has(o[1]) && os.Getenv(option.Variable(o[1])) != "" {
			a.flags = append(a.flags, "--"+o[1]+"=false")
		}
	}
}

// invalidValue and invalidVariable match the flag parser's messages about an invalid value of a flag or a variable.
var (
	invalidValue    = once.Pattern(`^invalid (boolean )?value "(.*)" for (?:flag )?-([^ :]+): (.*)$`)
	invalidVariable = once.Pattern(
		`^could not parse ".*" (as bool value )?from environment variable "([^"]*)".* for flag [^ :]+: (.*)$`)
)

// refuse converts an error of the flag parser to a problem.
func (l *line) refuse(err error) error {
	where, why, hint := l.command.Name, err.Error(), "braid "+l.command.Name+" --help"
	if m := invalidValue().FindStringSubmatch(why); m != nil {
		where, why = "--"+m[3], boolean(m[1], m[4])
		if place := l.places[m[3]]; place != "" {
			where = place + ": " + m[3]
		}
		hint = cmp.Or(foreignValue(m[3], m[2]), hint)
	} else if m := invalidVariable().FindStringSubmatch(why); m != nil {
		where, why = m[2], boolean(m[1], m[3])
	}
	return problem.Misuse(where, why, hint)
}

// boolean returns the reason why a value is invalid. isBool is "" for other values than booleans. For a boolean, the
// reason replaces why, the flag parser's text, which uses terms of Go.
func boolean(isBool, why string) string {
	if isBool != "" {
		return "the value must be true or false"
	}
	return why
}

// foreignValues describes values that show that the user meant another program's flag of the same name. In -fsSL more
// letters follow -s. The flag --location of curl takes no value.
var foreignValues = map[string]struct {
	value func() *regexp.Regexp
	hint  string
}{
	"split": {once.Pattern(`^[A-Za-z#]`),
		"for curl -s use -q; curl's -f, -L and -S are always on in braid"},
	"location": {once.Pattern(`^-|[:/.]`), "redirects are always followed, as by curl --location"},
}

func foreignValue(flag, value string) string {
	f, ok := foreignValues[flag]
	if !ok || !f.value().MatchString(value) {
		return ""
	}
	return f.hint
}
