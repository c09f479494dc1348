package watch

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"

	"braid/download"
)

// A bucket is an object store in memory, for objects of one part.
type bucket struct {
	objects map[string]string
	latest  map[string]string
	taken   error
}

func (b *bucket) Path(name string) string            { return "s3://b/" + name }
func (b *bucket) Upload(name string) download.Upload { return &object{b: b, name: name} }

func (b *bucket) Latest(_ context.Context, name string) (string, error) {
	return b.latest[name], b.taken
}

func (b *bucket) SetLatest(_ context.Context, name, version string) error {
	b.latest[name] = version
	return nil
}

type object struct {
	b          *bucket
	name, part string
}

func (o *object) Existing(context.Context) (*download.Existing, error) {
	if text, ok := o.b.objects[o.name]; ok {
		return &download.Existing{Size: int64(len(text)), ModTime: date(1)}, nil
	}
	return nil, fs.ErrNotExist
}
func (o *object) Resume(context.Context) (int64, []byte, error) { return 0, nil, nil }
func (o *object) PartEnd(_, size int64) int64                   { return max(size, 1<<20) }
func (o *object) Put(_ context.Context, p download.UploadPart) error {
	data, err := io.ReadAll(p.Bytes)
	o.part += string(data)
	p.Uploaded()
	return err
}
func (o *object) Restart(context.Context) error { o.part = ""; return nil }
func (o *object) Commit(context.Context, download.UploadFinal) error {
	o.b.objects[o.name] = o.part
	return nil
}
func (o *object) Found(context.Context, download.UploadFinal) {}
func (o *object) Keep(int64, []byte) error                    { return nil }
func (o *object) Close() error                                { return nil }

// TestLatestObject_Rule80: in an object store, a small object has the version in place, and nothing is fetched if another
// object has its name.
func TestLatestObject_Rule80(t *testing.T) {
	w, s := following(t, "")
	b := &bucket{objects: map[string]string{}, latest: map[string]string{}}
	w.rule.Link, w.rule.Dir, w.rule.To, w.rule.Request.Store = "tool", "", "s3://b/", b
	for _, version := range []string{"1.0", "1.1"} {
		s.put(version, "file of "+version)
		if _, err := w.next(version); err != nil {
			t.Fatal(err)
		}
		if b.objects["tool_"+version] != "file of "+version || b.latest["tool.latest"] != version || len(b.latest) != 1 {
			t.Errorf("%+v", b)
		}
	}
	b.taken = errors.New("another object")
	s.put("1.2", "file of 1.2")
	if _, err := w.next("1.2"); err == nil || len(b.objects) != 2 || s.bodies != 2 {
		t.Errorf("%v, %d objects, %d bodies", err, len(b.objects), s.bodies)
	}
}
