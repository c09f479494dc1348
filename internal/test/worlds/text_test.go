package worlds

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// A world is written as lines of words: "sizes 9000 60000", "party a https", then its faces, "face has=1 tag=own", and the
// commands in their order, "get mirrors=m newer". What is left out is zero. Lines that begin with # are for readers.

func (w *World) String() string {
	var b strings.Builder
	fmt.Fprint(&b, "sizes")
	for _, n := range w.Sizes {
		fmt.Fprintf(&b, " %d", n)
	}
	fmt.Fprintln(&b)
	for _, p := range w.Parties {
		fmt.Fprint(&b, "party ", p.Name)
		if p.HTTPS {
			fmt.Fprint(&b, " https")
		}
		fmt.Fprintln(&b)
		for _, f := range p.Faces {
			fmt.Fprintln(&b, "\tface"+fields(f))
		}
	}
	for _, c := range w.Commands {
		do := c.Do
		c.Do = ""
		fmt.Fprintln(&b, do+fields(c))
	}
	return b.String()
}

// fields writes those of a struct that are not zero.
func fields(x any) string {
	var b strings.Builder
	v := reflect.ValueOf(x)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			continue
		}
		b.WriteString(" " + strings.ToLower(v.Type().Field(i).Name))
		if v.Field(i).Kind() != reflect.Bool {
			fmt.Fprintf(&b, "=%s", strings.ReplaceAll(fmt.Sprint(v.Field(i)), " ", "_"))
		}
	}
	return b.String()
}

// setFields is the reverse; x is a pointer.
func setFields(x any, words []string) error {
	v := reflect.ValueOf(x).Elem()
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		f := v.FieldByNameFunc(func(s string) bool { return strings.ToLower(s) == name })
		switch {
		case !f.IsValid():
			return fmt.Errorf("there is no field %q", name)
		case f.Kind() == reflect.Bool:
			f.SetBool(true)
		case f.Kind() == reflect.Int:
			n, err := strconv.Atoi(value)
			if err != nil {
				return err
			}
			f.SetInt(int64(n))
		default:
			f.SetString(strings.ReplaceAll(value, "_", " "))
		}
	}
	return nil
}

// parseWorld reads what String wrote.
func parseWorld(text string) (w *World, err error) {
	w = &World{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		switch rest := words[1:]; words[0] {
		case "sizes":
			for _, word := range rest {
				n, err := strconv.Atoi(word)
				if err != nil || n <= 0 || n > most*3/4 {
					return nil, fmt.Errorf("size %q", word)
				}
				w.Sizes = append(w.Sizes, n)
			}
		case "party":
			if len(rest) == 0 {
				return nil, fmt.Errorf("%q names no party", line)
			}
			w.Parties = append(w.Parties, Party{Name: rest[0], HTTPS: len(rest) > 1})
		case "face":
			if len(w.Parties) == 0 {
				return nil, fmt.Errorf("%q is of no party", line)
			}
			p := &w.Parties[len(w.Parties)-1]
			p.Faces = append(p.Faces, Face{})
			err = setFields(&p.Faces[len(p.Faces)-1], rest)
		default:
			c := Command{Do: words[0]}
			err = setFields(&c, rest)
			w.Commands = append(w.Commands, c)
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
	}
	if len(w.Sizes) == 0 || w.party("a") == nil {
		return nil, fmt.Errorf("a world needs sizes and a party a")
	}
	return w, nil
}
