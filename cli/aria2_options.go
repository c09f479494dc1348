package cli

import (
	"cmp"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/render"

	"github.com/urfave/cli/v2"
)

// An aria2Run is the command line of braid get that the options of aria2c are translated to.
type aria2Run struct {
	line
	targets targets
}

// options translates the options to flags of braid get. Braid's settings of servers and verification apply.
// Those of names, folders and output do not, because the program that calls aria2c does not know them.
func (a *aria2c) options() (*aria2Run, error) {
	command, _ := option.Braid().Below("get")
	r := &aria2Run{line: line{command: command}, targets: targetsOf(a.get)}
	r.command.Options = slices.DeleteFunc(command.Options, func(o option.Option) bool {
		return o.Group == option.OutputGroup || o.Group == option.FileGroup && o.Name() != "max-size" ||
			o.Name() == "proxy" && a.proxied()
	})
	var given arranged
	for _, o := range option.Aria2Options() {
		flag := o.Flag()
		if flag == "" || !a.has(o.Name) || a.value(o.Name) == "" {
			continue
		}
		if slices.ContainsFunc(r.command.Options, func(known option.Option) bool { return known.Name() == flag }) {
			given.flags = append(given.flags, "--"+flag+"="+a.value(o.Name))
		} else if err := r.targets.set(flag, a.value(o.Name)); err != nil {
			return nil, problem.Misuse("--"+o.Name, err.Error(), "")
		}
	}
	if err := a.own(&given); err != nil {
		return nil, err
	}
	if err := checkEnvironment(r.command.Options, &given); err != nil {
		return nil, err
	}
	if err := r.configure(&given); err != nil {
		return nil, err
	}
	r.args = given.args()
	return r, nil
}

// set sets the target of an option, as the flag parser does.
func (t targets) set(option, value string) error {
	switch to := t.of(option).(type) {
	case *string:
		*to = value
	case *bool:
		*to = value == "true"
	case *choice:
		return to.Set(value)
	case cli.Generic:
		return to.Set(value)
	}
	return nil
}

// own translates the options that do not correspond to a single flag.
func (a *aria2c) own(given *arranged) error {
	g := a.get
	flag := func(name, value string) { given.flags = append(given.flags, "--"+name+"="+value) }
	g.Job.RemoteName = true
	g.Job.Rename = !a.has("auto-file-renaming") || g.Job.Rename
	g.Job.Newer.IfNewer = g.Job.Overwrite && a.is("conditional-get")
	g.Job.Limit, g.Job.Integrity = a.value("max-download-limit"), a.is("check-integrity")
	for _, s := range a.line.Settings {
		if s.Name == "header" {
			a.header(s.Value, flag)
		}
	}
	if v := a.value("checksum"); v != "" {
		if _, err := job.ParseChecksum(v); err != nil {
			return problem.Misuse("--checksum", err.Error(), "")
		}
	}
	if v := a.value("referer"); v != "" && v != "*" {
		flag("referer", v)
	}
	if v := a.value("http-user"); v != "" {
		flag("user", v+":"+a.value("http-passwd"))
	}
	if v := a.value("max-tries"); v != "" {
		flag("tries", cmp.Or(strings.TrimLeft(v, "0"), "1000000"))
	}
	for from, to := range map[string]string{"retry-wait": "retry-wait", "stop": "max-time", "seed-ratio": "seed-ratio"} {
		if v := a.value(from); strings.Trim(v, "0.") != "" {
			flag(to, v)
		}
	}
	if v := a.value("seed-time"); strings.Trim(v, "0.") != "" {
		minutes, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return problem.Misuse("--seed-time", "write a number of minutes", "")
		}
		flag("seed-time", strconv.FormatFloat(60*minutes, 'f', -1, 64))
	}
	if a.value("enable-dht") == "false" {
		flag("no-dht", "true")
	}
	if a.value("follow-torrent") == "false" || a.value("follow-metalink") == "false" {
		flag("no-metalink", "true")
	}
	if err := a.allocation(); err != nil {
		return err
	}
	a.output()
	return a.proxies()
}

// header adds a header field. It leaves out a field that braid sets itself, with a warning.
func (a *aria2c) header(field string, flag func(name, value string)) {
	if err := job.AddField(map[string][]string{}, field); err != nil {
		f := problem.Of(err)
		a.warning("--header %s: %s; left out", f.Where, f.Why)
		return
	}
	flag("header", field)
}

func (a *aria2c) allocation() error {
	v := a.value("file-allocation")
	if v == "" || v == "trunc" {
		return nil
	}
	c := choice{Words: option.WordsOf("file-allocation")}
	if err := c.Set(v); err != nil {
		return problem.Misuse("--file-allocation", err.Error(), "")
	}
	a.get.Job.Transfer.FileAllocation = c
	return nil
}

// output sets the verbosity and the kind of progress.
func (a *aria2c) output() {
	g := a.get
	switch level := a.value("console-log-level"); {
	case a.is("quiet"), level == "warn", level == "error":
		g.Quiet = true
	case level == "debug", level == "info":
		g.Verbose = true
	}
	switch {
	case a.is("quiet"), a.value("show-console-readout") == "false":
		g.Progress.Word = render.ProgressNone
	case g.terminal:
		g.meter = render.NewMeter(render.ProgressBar, a.err)
	default: // another program reads standard error, and standard output may be a terminal
		g.meter = &readout{w: a.out, gid: a.gid, terminal: render.IsTerminal(a.out)}
	}
}

// aria2Proxies are the names of the proxy options. The environment variables have the same names.
var aria2Proxies = []string{"http-proxy", "https-proxy", "ftp-proxy", "all-proxy"}

func (a *aria2c) proxied() bool { return slices.ContainsFunc(aria2Proxies, a.has) }

// proxies sets the environment variables of the proxies to the values of the options.
func (a *aria2c) proxies() error {
	for _, name := range aria2Proxies {
		if !a.has(name) {
			continue
		}
		proxy := a.value(name)
		if user := a.value(name + "-user"); user != "" && proxy != "" {
			scheme, rest, ok := strings.Cut(proxy, "://")
			if !ok {
				scheme, rest = "http", proxy
			}
			proxy = scheme + "://" + url.UserPassword(user,
				a.value(name+"-passwd")).String() + "@" + rest[strings.LastIndexByte(rest, '@')+1:]
		}
		variable := strings.ReplaceAll(name, "-", "_")
		for _, v := range []string{variable, strings.ToUpper(variable)} {
			if err := os.Setenv(v, proxy); err != nil {
				return problem.Misuse("--"+name, err.Error(), "")
			}
		}
	}
	return nil
}

// writeAria2Help lists the options and how each is treated.
func writeAria2Help(w io.Writer) error {
	var b strings.Builder
	b.WriteString("Usage: aria2c [OPTIONS] [URI | MAGNET | TORRENT_FILE | METALINK_FILE]...\n\nThis is braid under the name of aria2c. It knows these options of aria2c:\n\n")
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
	b.WriteString("\nThese change nothing in what comes: " + strings.Join(ignored, ", ") + ".\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// aria2Says replaces options of braid in messages by those of aria2c.
var aria2Says = strings.NewReplacer("--sha256 HEX", "--checksum=sha-256=HEX", "--overwrite ", "--allow-overwrite=true ",
	"-u USER:PASSWORD gives credentials", "--http-user and --http-passwd give credentials", "--cacert FILE",
	"--ca-certificate FILE",
	"; --insecure HOST does without, for one host", "", "--continue goes on", "-c goes on",
	"; -o - writes to a program or a device", "")

// aria2Words returns text with the options of aria2c in place of braid's, or "" if it names an option that
// aria2c does not have.
func aria2Words(text string) string {
	text = aria2Says.Replace(text)
	for word := range strings.FieldsSeq(text) {
		name, _, _ := strings.Cut(strings.TrimLeft(word, "("), "=")
		if name, ok := strings.CutPrefix(name, "--"); ok && !option.IsAria2(name) {
			return ""
		}
	}
	return text
}
