package watch

import (
	"reflect"
	"slices"
)

// checkEmpty returns an error for a key with an empty value in a table or its subtables. An empty value of a protective
// setting would protect nothing, and an empty list may mean everything.
func (b *builder) checkEmpty(table reflect.Value, path ...string) error {
	for _, f := range reflect.VisibleFields(table.Type()) {
		name := f.Tag.Get("toml")
		if name == "" {
			continue
		}
		if err := b.checkValue(table.FieldByIndex(f.Index), append(slices.Clip(path), name)); err != nil {
			return err
		}
	}
	return nil
}

// checkValue is checkEmpty for one key.
func (b *builder) checkValue(v reflect.Value, path []string) error {
	name := path[len(path)-1]
	empty := false
	switch v.Kind() {
	case reflect.String:
		empty = v.Len() == 0 && b.meta.IsDefined(path...)
	case reflect.Slice:
		empty = !v.IsNil() && v.Len() == 0
		for i := range v.Len() { // arguments of programs may be empty
			empty = empty || v.Index(i).Len() == 0 && name != "run" && name != "on-failure"
		}
	case reflect.Struct:
		return b.checkEmpty(v, path...)
	case reflect.Map:
		for _, below := range b.names(path[len(path)-1]) {
			if t := v.MapIndex(reflect.ValueOf(below)); len(path) == 1 && t.IsValid() &&
				t.Kind() == reflect.Pointer && !t.IsNil() {
				if err := b.checkEmpty(t.Elem(), append(slices.Clip(path), below)...); err != nil {
					return err
				}
			}
		}
	}
	if !empty {
		return nil
	}
	hint := "leave the key out"
	if name == "feeds" {
		hint = "leave the key out to accept reports of all feeds"
	}
	return b.wrong("the value is empty", hint, path...)
}
