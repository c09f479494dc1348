package job

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"braid/download"
	"braid/fleet"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/web"
	"braid/internal/worker"
)

// Jobs returns fleet jobs for words, which are URLs, and for the list (-i). priority is the priority of entries that
// have none. All entries are checked before any job is returned.
func Jobs(ctx context.Context, d *Defaults, client *download.Client, words []string,
	priority string) (jobs []fleet.Job, err error) {
	if err := d.Prepare(client); err != nil {
		return nil, err
	}
	if err := d.ReadSums(ctx, client, nil); err != nil {
		return nil, err
	}
	names := namesakes{}
	add := func(e option.Entry, place string, line int) error {
		r, wrong := d.request(e)
		if wrong != nil {
			return d.Input.at(max(wrong.line, e.Line), wrong.option, wrong.err)
		}
		if err := names.add(&r, place, line); err != nil {
			return err
		}
		if priority != "" { // an option of the entry, which comes later, overrides this one
			e.Options = append([]option.Setting{{Name: "priority", Value: priority}}, e.Options...)
		}
		j, err := FleetJob(e, &r)
		if err == nil {
			jobs = append(jobs, j)
		}
		return err
	}
	for i, word := range words {
		if _, err := ParseURL(word); err != nil {
			return nil, err
		}
		if err := add(option.Entry{URIs: []string{word}}, fmt.Sprintf("operand %d", i+1), i-len(words)); err != nil {
			return nil, err
		}
	}
	if d.Input.InputFile == "" {
		return jobs, nil
	}
	text, err := d.Input.Read(MaxList)
	if err != nil {
		return nil, err
	}
	for e, err := range option.Entries(text) {
		if err != nil {
			return nil, problem.Misuse(d.Input.String(), err.Error(), "")
		}
		if err := add(e, d.Input.place(e.Line), e.Line); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// FleetJob returns the fleet job for e. r is the request for e. The job's name is a path below the folder of the
// workers. A secret in e is an error.
func FleetJob(e option.Entry, r *download.Request) (fleet.Job, error) {
	place := MaskWord(e.URIs[0])
	name, err := r.Path()
	if err != nil {
		return fleet.Job{}, problem.Misuse(place, err.Error(), "name the file with out=NAME in a list")
	}
	if e, err = withChecksums(e, r); err != nil {
		return fleet.Job{}, err
	}
	j := fleet.Job{Name: filepath.ToSlash(name), URIs: e.URIs}
	sum := sha256.New()
	for _, o := range e.Options {
		option, _ := option.InList(o.Name)
		field, _, _ := strings.Cut(o.Value, ":")
		if option == "user" || option == "header" && !web.ForAnyServer(strings.TrimSpace(field)) || HasUser(o.Value) {
			return j, problem.Misuse(place+": "+o.Name, "a queue stores no passwords",
				"set them under [site] in the settings of the workers")
		}
		switch option {
		case "out", "dir":
		case "priority":
			j.Priority = fleet.ParsePriority(o.Value)
		default:
			j.Options = append(j.Options, fleet.Option{Name: o.Name, Value: o.Value})
			fmt.Fprintf(sum, "%q %q\n", o.Name, o.Value)
		}
	}
	for _, word := range e.URIs {
		if HasUser(word) {
			return j, problem.Misuse(place, "a queue stores no passwords",
				"set them under [site] in the settings of the workers")
		}
		fmt.Fprintf(sum, "%q\n", word)
	}
	j.Version = fmt.Sprintf("%.8x", sum.Sum(nil))
	if !filepath.IsLocal(name) || r.RemoteName && r.Name == "" || r.IfExists.Rename {
		return j, problem.Misuse(place, "the name of the file is not known in advance",
			"give out=NAME, and dir=FOLDER as a relative path")
	}
	if err := worker.CheckName(j.Name); err != nil {
		return j, problem.Misuse(place, err.Error(), "name the file with out=NAME in a list")
	}
	return j, nil
}

// HasUser reports whether word is a URL with a user name or password.
func HasUser(word string) bool {
	u, err := url.Parse(word)
	return err == nil && u.User != nil
}
