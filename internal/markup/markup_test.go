package markup

import (
	"encoding/xml"
	"testing"
	"unicode/utf8"
)

func TestAdd(t *testing.T) {
	var p Page
	p.Add("<p class=\"{}\">{} of {}</p>\n", `a"b`, 1, "<i>&'{}\x00")
	p.If(false, "<p>{}</p>", 2)
	p.If(true, "<p>{}</p>\n", 3)
	p.Style("p { color: red }\n")
	const want = "<p class=\"a&#34;b\">1 of &lt;i&gt;&amp;&#39;{}\uFFFD</p>\n<p>3</p>\n<style>\np { color: red }\n</style>\n"
	if got := string(p.Bytes()); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzAdd (rule 61): a value stays in its text or attribute.
func FuzzAdd(f *testing.F) {
	f.Add(`"><script>alert(1)</script>`)
	f.Add("</p>{}<!-- ]]>")
	f.Fuzz(func(t *testing.T, value string) {
		var p Page
		p.Add(`<p class="{}">{}</p>`, value, value)
		var got struct {
			Class string     `xml:"class,attr"`
			Text  string     `xml:",chardata"`
			More  []struct{} `xml:",any"`
		}
		for _, r := range value {
			if r < ' ' || r == utf8.RuneError || r == 0xFFFE || r == 0xFFFF {
				return // XML has no such characters, or reads another one
			}
		}
		if err := xml.Unmarshal(p.Bytes(), &got); err != nil || got.Class != value || got.Text != value || got.More != nil {
			t.Errorf("%q becomes %+v, %v", value, got, err)
		}
	})
}
