package aria2c

import (
	"cmp"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/render"
)

// A Flag is an option of braid get with its value. For is the option of aria2c that the Flag replaces.
type Flag struct{ Name, Value, For string }

// Flags returns the options of braid get that each replace exactly one option of aria2c.
func (c *Call) Flags() (flags []Flag) {
	for _, o := range option.Aria2Options() {
		if flag := o.Flag(); flag != "" && c.Value(o.Name) != "" {
			flags = append(flags, Flag{flag, c.Value(o.Name), o.Name})
		}
	}
	return flags
}

// Apply translates the options of aria2c that no single option of braid get replaces. It sets fields of d after the
// flags have been set, returns further flags, and sets the environment of this process for proxies.
func (c *Call) Apply(d *job.Defaults) (flags []Flag, err error) {
	flag := func(name, value string) { flags = append(flags, Flag{Name: name, Value: value}) }
	d.RemoteName = true
	d.Rename = !c.Has("auto-file-renaming") || d.Rename
	d.Newer.IfNewer = d.Overwrite && c.Is("conditional-get")
	d.Limit, d.Integrity = c.Value("max-download-limit"), c.Is("check-integrity")
	for _, s := range c.line.Settings {
		if s.Name == "header" {
			c.header(s.Value, flag)
		}
	}
	if v := c.Value("checksum"); v != "" {
		if _, err := job.ParseChecksum(v); err != nil {
			return nil, problem.Misuse("--checksum", err.Error(), "")
		}
	}
	if v := c.Value("referer"); v != "" && v != "*" {
		flag("referer", v)
	}
	if v := c.Value("http-user"); v != "" {
		flag("user", v+":"+c.Value("http-passwd"))
	}
	if v := c.Value("max-tries"); v != "" {
		flag("tries", cmp.Or(strings.TrimLeft(v, "0"), "1000000"))
	}
	for from, to := range map[string]string{"retry-wait": "retry-wait", "stop": "max-time", "seed-ratio": "seed-ratio"} {
		if v := c.Value(from); strings.Trim(v, "0.") != "" {
			flag(to, v)
		}
	}
	if v := c.Value("seed-time"); strings.Trim(v, "0.") != "" {
		minutes, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return nil, problem.Misuse("--seed-time", "write a number of minutes", "")
		}
		flag("seed-time", strconv.FormatFloat(60*minutes, 'f', -1, 64))
	}
	if c.Value("enable-dht") == "false" {
		flag("no-dht", "true")
	}
	if c.Value("follow-torrent") == "false" || c.Value("follow-metalink") == "false" {
		flag("no-metalink", "true")
	}
	if err := c.allocation(d); err != nil {
		return nil, err
	}
	return flags, c.proxies()
}

// header adds a header field. A field that braid sets itself is left out with a warning.
func (c *Call) header(field string, flag func(name, value string)) {
	if err := job.AddField(map[string][]string{}, field); err != nil {
		f := problem.Of(err)
		c.warning("--header %s: %s; left out", f.Where, f.Why)
		return
	}
	flag("header", field)
}

func (c *Call) allocation(d *job.Defaults) error {
	v := c.Value("file-allocation")
	if v == "" || v == "trunc" {
		return nil
	}
	words := option.ChoiceValue{Words: option.WordsOf("file-allocation")}
	if err := words.Set(v); err != nil {
		return problem.Misuse("--file-allocation", err.Error(), "")
	}
	d.Transfer.FileAllocation = words
	return nil
}

// Output has the options about messages and progress.
type Output struct {
	Quiet, Verbose bool
	NoProgress     bool
	// Meter shows the progress for programs that read it. It is nil on a terminal, which shows a bar.
	Meter render.Meter
}

// Output returns the options about messages and progress. terminal reports whether standard error is a terminal.
func (c *Call) Output(terminal bool) (o Output) {
	switch level := c.Value("console-log-level"); {
	case c.Is("quiet"), level == "warn", level == "error":
		o.Quiet = true
	case level == "debug", level == "info":
		o.Verbose = true
	}
	switch {
	case c.Is("quiet"), c.Value("show-console-readout") == "false":
		o.NoProgress = true
	case terminal:
	default: // another program reads standard error, and standard output may be a terminal
		o.Meter = &readout{w: c.out, gid: c.gid, terminal: render.IsTerminal(c.out)}
	}
	return o
}

// proxyOptions are the names of the proxy options. The environment variables have the same names.
var proxyOptions = []string{"http-proxy", "https-proxy", "ftp-proxy", "all-proxy"}

// Proxied reports whether the options name a proxy.
func (c *Call) Proxied() bool { return slices.ContainsFunc(proxyOptions, c.Has) }

// proxies sets the environment variables of the proxies to the values of the options.
func (c *Call) proxies() error {
	for _, name := range proxyOptions {
		if !c.Has(name) {
			continue
		}
		proxy := c.Value(name)
		if user := c.Value(name + "-user"); user != "" && proxy != "" {
			scheme, rest, ok := strings.Cut(proxy, "://")
			if !ok {
				scheme, rest = "http", proxy
			}
			proxy = scheme + "://" + url.UserPassword(user,
				c.Value(name+"-passwd")).String() + "@" + rest[strings.LastIndexByte(rest, '@')+1:]
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
