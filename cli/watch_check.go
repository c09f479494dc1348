package cli

import (
	"context"
	"fmt"

	"braid/internal/watch"
	"braid/source"
)

// runCheck reports the faults of a configuration: the errors that a start or a reload would find, and
// settings without effect. It sends no request and changes nothing.
func (v *watchCommand) runCheck(ctx context.Context, words []string) error {
	c, err := v.load(words, toWatch)
	if err != nil {
		return err
	}
	if err := watch.Check(c); err != nil {
		return err
	}
	where := c.File
	if where == "" {
		where = "watch"
	}
	hide := c.Hider()
	warnings, found := c.Warnings(), "nothing wrong"
	for _, w := range c.Watches {
		if w.Priority != "" {
			warnings = append(warnings, "watch."+w.Name+".priority: is that of jobs in a queue: braid watch refuses it without --queue")
		}
	}
	for _, text := range warnings {
		fmt.Fprintln(v.err, source.Escape(hide.Replace("braid: warning "+where+": "+text)))
	}
	if n := len(warnings); n > 0 {
		found = count(n, "warning")
	}
	_, err = fmt.Fprintln(v.out, source.Escape(where+": "+c.Summary()+", "+found))
	return outputFailure(err)
}
