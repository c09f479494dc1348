package fsystest

import "slices"

// pageSize is what is copied when a byte is written that another content has, too.
const pageSize = 4096

// A content is the bytes of a file. Copies share their pages until one is written: of each file there are hundreds of
// copies, as it is at one moment and another.
type content struct {
	size  int64
	pages []page // may end before size does: zeroes
}

// A page has pageSize bytes; nil: zeroes. One that is shared is not written any more.
type page struct {
	data   *[pageSize]byte
	shared bool
}

// clone is a copy that changes on its own.
func (c *content) clone() content {
	for i := range c.pages {
		c.pages[i].shared = true
	}
	return content{c.size, slices.Clone(c.pages)}
}

// read reads at off, and returns how many bytes there are.
func (c *content) read(p []byte, off int64) (n int) {
	p = p[:max(0, min(int64(len(p)), c.size-off))]
	for len(p) > n {
		i, skip := int(off/pageSize), off%pageSize
		here := p[n:min(len(p), n+int(pageSize-skip))]
		if i < len(c.pages) && c.pages[i].data != nil {
			copy(here, c.pages[i].data[skip:])
		} else {
			clear(here)
		}
		n, off = n+len(here), off+int64(len(here))
	}
	return n
}

// write writes at off. A gap before it is zeroes.
func (c *content) write(p []byte, off int64) {
	c.size = max(c.size, off+int64(len(p)))
	for len(p) > 0 {
		n := copy(c.own(int(off / pageSize))[off%pageSize:], p)
		p, off = p[n:], off+int64(n)
	}
}

// own is the i-th page, for writing.
func (c *content) own(i int) *[pageSize]byte {
	for len(c.pages) <= i {
		c.pages = append(c.pages, page{})
	}
	switch p := &c.pages[i]; {
	case p.data == nil:
		*p = page{data: new([pageSize]byte)}
	case p.shared:
		own := *p.data
		*p = page{data: &own}
	}
	return c.pages[i].data
}

// resize fills what is new with zeroes.
func (c *content) resize(size int64) {
	if size < c.size {
		whole := int(size / pageSize)
		if whole < len(c.pages) {
			if left := size % pageSize; left > 0 && c.pages[whole].data != nil {
				clear(c.own(whole)[left:])
				whole++
			}
			c.pages = slices.Delete(c.pages, whole, len(c.pages))
		}
	}
	c.size = size
}
