package cli

import (
	"context"
	"os"
	"slices"

	"braid/internal/job"
	"braid/internal/option"
)

type configurationKey struct{}

// configurationOf returns the settings that ctx carries, or empty settings.
func configurationOf(ctx context.Context) *job.Settings {
	if c, ok := ctx.Value(configurationKey{}).(*job.Settings); ok {
		return c
	}
	return &job.Settings{}
}

// fill adds the configuration's values to a, for flags that neither the command line nor the environment sets. It
// returns the place of each value in the configuration file, by flag.
func fill(c *job.Settings, command string, options []option.Option, a *arranged) map[string]string {
	from := map[string]string{}
	c.Said, c.Line = map[string]bool{}, map[string]bool{}
	for _, o := range options {
		name := o.Name()
		c.Said[name], c.Line[name] = said(name, a), a.has(name)
		v, ok := c.File.Value(command, name)
		if !ok || c.Said[name] || o.Kind == option.Rate && v.Timed() && !c.File.Own(command, name) {
			continue
		}
		if slices.ContainsFunc(opposites, func(o [2]string) bool { return o[0] == name && said(o[1], a) }) {
			continue
		}
		for _, word := range v.Words {
			a.flags = append(a.flags, "--"+name+"="+job.FromHome(word))
		}
		from[name] = c.Place(v.Line)
	}
	return from
}

// said reports whether the command line or the environment sets the flag with that name.
func said(name string, a *arranged) bool {
	_, set := os.LookupEnv(option.Variable(name))
	return set || a.has(name)
}
