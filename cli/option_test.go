package cli

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"braid/internal/hook"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/watch"
)

// samples are values of options that take no other word.
var samples = map[string]string{
	"to":     "s3://bucket/x/",
	"sha256": strings.Repeat("ab", 32), "checksum": "sha-256=" + strings.Repeat("ab", 32),
	"mirror": "https://mirror.example.net/a", "header": "X-A: b",
	"user": "me:word", "location": "de", "allow-host": "10.0.0.0/8", "not-host": "10.0.0.0/8", "on-complete": "true",
	"peer-listen": ":6881", "seed-ratio": "1.5",
	"pin": strings.Repeat("AB", 20), "keyring": "keys.asc", "signature": ".asc",
}

func sampleOf(o option.Option) string {
	switch o.Kind {
	case option.Switch:
		return "true"
	case option.Choice:
		return o.Choices()[0]
	}
	return cmp.Or(samples[o.Name()], map[option.Kind]string{option.Time: "2s", option.Period: "2h", option.Size: "2M",
		option.Rate: "2M", option.Rates: "2M"}[o.Kind], "2")
}

// written is a sample as TOML has it.
func written(o option.Option) string {
	switch o.Kind {
	case option.Switch:
		return "true"
	case option.Words:
		return fmt.Sprintf("[%q]", sampleOf(o))
	}
	return fmt.Sprintf("%q", sampleOf(o))
}

// TestOptionsWhereTheyStand walks all of the table: each option is taken where it may stand, and refused elsewhere with its name.
func TestOptionsWhereTheyStand(t *testing.T) {
	g, _, err := parse(t, "https://example.org/other")
	if err != nil {
		t.Fatal(err)
	}
	queueing, _, err := parse(t, "--queue", "embedded", "https://example.org/other")
	if err != nil {
		t.Fatal(err)
	}
	typedBefore := map[string]bool{}
	for o := range option.All() {
		for _, c := range allCommands() {
			if typedBefore[o.Name()] { // as an option of another command: the name alone decides
				break
			}
			if len(c.Commands) > 0 || len(c.Options) == 0 { // complete, completion, apt, trust
				continue
			}
			typed := c.Name
			_, err := readLine(append(strings.Fields(typed), "--"+o.Name()+"="+sampleOf(o)))
			at(t, o, "braid "+typed, slices.Contains(namesFor(c.Name), o.Name()), err, "unknown flag")
			top, _, _ := strings.Cut(typed, " ")
			_, err = option.ParseSettings([]byte("[" + top + "]\n" + o.Name() + " = " + written(ofCommand(top, o)) + "\n"))
			at(t, o, "["+top+"]", slices.Contains(namesFor(top), o.Name()), err, "unknown key")
		}
		typedBefore[o.Name()] = true
		_, err := option.ParseSettings([]byte("[site.\"https://example.org\"]\n" + o.Name() + " = " + siteValue(o) + "\n"))
		at(t, o, "a site", mayStand(o, option.InSite), err, "unknown key")
		for _, name := range []string{o.Name(), o.ListName} {
			if name != "" {
				list := g
				if name == "priority" { // of jobs
					queueing.Job.Queued, list = true, queueing
				}
				at(t, o, "a list, as "+name, mayStand(o, option.InLine), listLine(list, name, sampleOf(o)), "unknown option")
			}
		}
		// a watch has these of its own
		if !slices.Contains([]string{"url", "check-every", "versions", "pre-releases"}, o.Name()) {
			at(t, o, "a watch", mayStand(o, option.InWatch), watchKey(standing(o, option.InWatch)), "unknown key")
		}
	}
}

// at checks what became of an option somewhere. Where it is taken, only its value may be wrong.
func at(t *testing.T, o option.Option, place string, taken bool, err error, refusal string) {
	t.Helper()
	switch {
	case taken && err != nil:
		t.Errorf("%s: %s is refused: %v", place, o.Name(), err)
	case !taken && (err == nil || !strings.Contains(err.Error(), o.Name()) && !strings.Contains(err.Error(),
		o.ListName) || !strings.Contains(err.Error(), refusal)):
		t.Errorf("%s: %s: %v, want %q", place, o.Name(), err, refusal)
	}
}

// namesFor are the options of a command and of those below it.
func namesFor(helpName string) (names []string) {
	for o := range option.All() {
		for _, typed := range o.Of.Typed() {
			if typed == helpName || strings.HasPrefix(typed, helpName+" ") {
				names = append(names, o.Name())
			}
		}
	}
	return names
}

// ofCommand is the option of that name of a command, or else o.
func ofCommand(top string, o option.Option) option.Option {
	for other := range option.All() {
		if other.Name() == o.Name() && slices.ContainsFunc(other.Of.Typed(),
			func(typed string) bool { return strings.HasPrefix(typed, top) }) {
			return other
		}
	}
	return o
}

// standing is the option of that name that may stand there, or else o.
func standing(o option.Option, place option.Places) option.Option {
	for other := range option.All() {
		if other.Name() == o.Name() && other.Also&place != 0 {
			return other
		}
	}
	return o
}

// mayStand reports whether an option of that name may stand there.
func mayStand(o option.Option, place option.Places) bool {
	for other := range option.All() {
		if other.Name() == o.Name() && other.Also&place != 0 {
			return true
		}
	}
	return false
}

func siteValue(o option.Option) string {
	if o.Name() == "insecure" {
		return "true"
	}
	return written(o)
}

// listLine reads an entry of a list with one option.
func listLine(g *getCommand, name, value string) error {
	_, err := g.Job.Request(option.Entry{Line: 1, URIs: []string{"https://example.org/a"},
		Options: []option.Setting{{Line: 2, Name: name, Value: value}}})
	if name == "require" && err != nil && strings.Contains(err.Error(), "no key or certificate is trusted") {
		return nil
	}
	return err
}

// watchKey reads a watch with one option.
func watchKey(o option.Option) error {
	text := "[watch.w]\nurl = 'https://example.org/a'\n" + o.Name() + " = " + written(o) + "\n"
	if o.Name() != "dir" && o.Name() != "to" {
		text += "dir = 'd'\n"
	}
	if o.Name() == "pin" || o.Name() == "allow-expired-key" {
		text += "keyring = ['k']\n"
	}
	_, err := watch.ParseConfig([]byte(text), watch.ConfigOptions{})
	return err
}

// TestTargetsFitTheTable: each value goes where its kind belongs, and nothing is left that no option fills.
func TestTargetsFitTheTable(t *testing.T) {
	kinds := map[option.Kind][]any{
		option.Switch: {new(bool)}, option.Words: {new(option.WordsValue), new(job.Hosts), new(job.Excluded)},
		option.Choice: {new(choice)}, option.Number: {new(number), new(plenty)},
		option.Time: {new(duration), new(job.SeedTime)}, option.Period: {new(interval)}, option.Size: {new(size)},
		option.Rate: {new(rate)}, option.Rates: {new(rates)},
		option.Word: {new(string), new(parallel), new(job.Countries), new(job.Ratio), new(job.ListenAddress),
			new(hook.Command), new(port)},
	}
	for _, c := range allCommands() {
		if len(c.Options) == 0 {
			continue
		}
		_, targets := commands[c.Name](streams{})
		for _, o := range c.Options {
			is := targets.of(o.Name())
			if !slices.ContainsFunc(kinds[o.Kind], func(k any) bool { return reflect.TypeOf(k) == reflect.TypeOf(is) }) {
				t.Errorf("%s --%s: a %T for %v", c.Name, o.Name(), is, o.Kind)
			}
		}
	}
	squashed := strings.ReplaceAll(strings.Join(namesFor("get"), " "), "-", "")
	for name := range targetsOf(newGetCommand(streams{})) {
		if !slices.Contains(strings.Fields(squashed), name) {
			t.Errorf("no option fills the target %s", name)
		}
	}
}

// TestMostUsed: the help of get begins with ten flags.
func TestMostUsed(t *testing.T) {
	_, out, _ := command(t, "get", "--help")
	_, rest, _ := strings.Cut(out, "\n"+option.MostUsed+":\n")
	first, _, _ := strings.Cut(rest, "\n\n")
	var names []string
	for line := range strings.Lines(first) {
		if _, name, ok := strings.Cut(line, "--"); ok && strings.HasPrefix(line, "  -") {
			names = append(names, strings.Fields(name)[0])
		}
	}
	if want := "out dir input-file overwrite sha256 checksums key mirror limit-rate quiet"; strings.Join(names, " ") != want {
		t.Errorf("%q, want %q", names, want)
	}
	if before, _, _ := strings.Cut(out, "\n"+option.MostUsed+":\n"); strings.Contains(before, "\nFile:\n") {
		t.Error("another group comes before")
	}
}

// TestValues: what a flag's value prints as is read as the same.
func TestValues(t *testing.T) {
	for _, tt := range []struct {
		v interface {
			Set(string) error
			String() string
		}
		good []string
		bad  []string
	}{
		{new(size), []string{"1", "2M", "64G"}, []string{"0", "-1", "", "x"}},
		{new(duration), []string{"1", "1m30s", "2ms"}, []string{"0", "-1s", "", "x"}},
		{new(number), []string{"1", "16"}, []string{"0", "-1", "", "x", "1.5", "1000001"}},
		{&choice{Words: []string{"a", "b"}}, []string{"a", "b"}, []string{"", "c", "A"}},
	} {
		for _, s := range tt.good {
			if err := tt.v.Set(s); err != nil {
				t.Errorf("%T: %q: %v", tt.v, s, err)
			}
			before := tt.v.String()
			if err := tt.v.Set(before); err != nil || tt.v.String() != before {
				t.Errorf("%T: %q becomes %q, and that %q: %v", tt.v, s, before, tt.v.String(), err)
			}
		}
		before := tt.v.String()
		for _, s := range tt.bad {
			if err := tt.v.Set(s); err == nil || tt.v.String() != before {
				t.Errorf("%T: %q: %v, now %q", tt.v, s, err, tt.v.String())
			}
		}
	}
}
