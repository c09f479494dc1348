package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os/exec"

	"braid/internal/web"
	"braid/source"
)

// runCheck says what is wrong with a configuration, before a watcher reads it: all that a start or a reload would say, and what would have
// no effect. Nothing is asked, made or changed.
func (v *watchCommand) runCheck(ctx context.Context, words []string) error {
	c, err := v.load(words, toWatch)
	if err != nil {
		return err
	}
	if _, err := newSetup(c, nil, slog.New(slog.NewTextHandler(io.Discard, nil))); err != nil {
		return err
	}
	where := c.file
	if where == "" {
		where = "watch"
	}
	hide := c.hider()
	for _, text := range c.warnings() {
		fmt.Fprintln(v.err, source.Escape(hide.Replace("braid: warning "+where+": "+text)))
	}
	_, err = fmt.Fprintln(v.out, source.Escape(where+": "+c.summary()+", nothing wrong"))
	return outputFailure(err)
}

// summary says how much a configuration is about.
func (c *loaded) summary() string {
	return fmt.Sprintf("%s, %s", count(len(c.Feeds), "feed"), countWatches(len(c.Watches)))
}

// warnings are what a configuration says that has no effect, or will not work.
func (c *loaded) warnings() (list []string) {
	warn := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for _, f := range c.Feeds {
		if f.Relay && c.Publish.Dir == "" {
			warn("feed.%s.relay: nothing is published ([publish] dir = or --publish FOLDER says where)", f.Name)
		}
	}
	if c.Publish.Dir == "" && c.Publish.AgentURL+c.Publish.Title != "" {
		warn("publish: nothing is published without a folder (dir = or --publish FOLDER)")
	}
	for _, w := range c.Watches {
		for _, program := range [][]string{w.Run, w.OnFailure} {
			if len(program) == 0 {
				continue
			}
			if _, err := exec.LookPath(program[0]); err != nil {
				warn("watch.%s: %s: there is no such program now", w.Name, program[0])
			}
		}
	}
	return list
}

// checkServing refuses what would fail when a watcher begins, or with each of its requests.
func (c *loaded) checkServing() error {
	if c.Metrics != "" {
		_, port, err := net.SplitHostPort(c.Metrics)
		if err == nil {
			_, err = net.LookupPort("tcp", port) // a number that is no port fails without a look at the system's table
		}
		if err != nil {
			return misuse(c.file, "metrics: "+maskWord(c.Metrics)+" is no address", "HOST:PORT, as 127.0.0.1:9110")
		}
	}
	for _, f := range c.Feeds {
		if err := c.checkFields("feed."+f.Name, f.Header); err != nil {
			return err
		}
	}
	for _, w := range c.Watches {
		if err := c.checkFields("watch."+w.Name, w.Header); err != nil {
			return err
		}
	}
	return nil
}

func (c *loaded) checkFields(where string, header map[string][]string) error {
	for name := range header {
		if web.Reserved(name) {
			return misuse(c.file, where+".header: "+name+": braid sets this field itself", "")
		}
	}
	return nil
}
