package fsystest

import "slices"

// pageSize is the unit of copying on write.
const pageSize = 4096

// content is the bytes of a file. Copies share pages until one of them is written, because there are hundreds of copies
// of each file in different states.
type content struct {
	size  int64
	pages []page // may end before size: the rest is zeros
}

// page holds pageSize bytes; nil data means zeros. A shared page must not be modified.
type page struct {
	data   *[pageSize]byte
	shared bool
}

// clone returns an independent copy.
func (c *content) clone() content {
	for i := range c.pages {
		c.pages[i].shared = true
	}
	return content{c.size, slices.Clone(c.pages)}
}

// read reads at off, and returns the number of bytes read.
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

// write writes at off. A gap before off is filled with zeros.
func (c *content) write(p []byte, off int64) {
	c.size = max(c.size, off+int64(len(p)))
	for len(p) > 0 {
		n := copy(c.own(int(off / pageSize))[off%pageSize:], p)
		p, off = p[n:], off+int64(n)
	}
}

// own returns the i-th page for writing.
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

// resize truncates the content or extends it with zeros.
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
