package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"strings"
)

// A File came inside a request, or is an image at an address.
type File struct {
	Name    string
	Kind    string // its media type
	Content []byte

	URL   string // http or https; empty where the file came inside the request
	Param string // where the address is in the request
}

// Fetched returns an image with its fetched content.
func (f File) Fetched(kind string, content []byte) File {
	return File{Name: fileName(kind), Kind: kind, Content: content}
}

// A part is a piece of content, in either wire form.
type part struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`

	ImageURL json.RawMessage `json:"image_url"` // {"url"}, or the address itself
	File     json.RawMessage `json:"file"`      // the fields below, one level down
	FileName string          `json:"filename"`
	FileData string          `json:"file_data"`
	FileURL  string          `json:"file_url"`
	FileID   string          `json:"file_id"`
}

// addContent adds a content to s: a text, or a list of parts.
func (s *Item) addContent(raw json.RawMessage, param string) error {
	if isNull(raw) {
		return nil
	}
	if raw[0] == '"' {
		s.Text = unquote(raw)
		return nil
	}
	var parts []part
	if raw[0] != '[' || json.Unmarshal(raw, &parts) != nil {
		return Wrong(param, "must be a text or a list of parts")
	}
	var texts []string
	for i, p := range parts {
		text, err := s.addPart(p, fmt.Sprintf("%s[%d]", param, i))
		if err != nil {
			return err
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	s.Text = strings.Join(texts, "\n")
	return nil
}

// unquote returns the text of a JSON string, which the decoder has checked.
func unquote(raw json.RawMessage) string {
	if !bytes.ContainsRune(raw, '\\') {
		return string(raw[1 : len(raw)-1])
	}
	var text string
	_ = json.Unmarshal(raw, &text)
	return text
}

// addPart adds a file to s, or returns a text.
func (s *Item) addPart(p part, param string) (string, error) {
	switch p.Type {
	case "text", "input_text", "output_text":
		return p.Text, nil
	case "refusal":
		return p.Refusal, nil
	case "image_url", "input_image":
		return "", s.addImage(p, param+".image_url")
	case "file", "input_file":
		return "", s.addFile(p, param)
	case "":
		return "", Wrong(param+".type", "is missing")
	default:
		return "", Unsupported(param+".type", fmt.Sprintf("parts of type %.40q are not taken", p.Type))
	}
}

func (s *Item) addImage(p part, param string) error {
	address := ""
	var nested struct {
		URL string `json:"url"`
	}
	switch {
	case isNull(p.ImageURL):
	case p.ImageURL[0] == '"':
		address = unquote(p.ImageURL)
	case json.Unmarshal(p.ImageURL, &nested) == nil:
		address, param = nested.URL, param+".url"
	}
	if address == "" {
		return Wrong(param, "is missing")
	}
	if scheme, _, ok := strings.Cut(address, "://"); ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) {
		s.Files = append(s.Files, File{URL: address, Param: param})
		return nil
	}
	f, err := dataURL(address, param)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(f.Kind, "image/") {
		return Wrong(param, "holds no image")
	}
	s.Files = append(s.Files, f)
	return nil
}

func (s *Item) addFile(p part, param string) error {
	if !isNull(p.File) {
		param += ".file"
		if json.Unmarshal(p.File, &p) != nil {
			return Wrong(param, "must be an object")
		}
	}
	if p.FileID != "" || p.FileURL != "" || p.FileData == "" {
		return Unsupported(param, "files are not kept here nor fetched from elsewhere; send the file itself as file_data in a data: URL")
	}
	f, err := dataURL(p.FileData, param+".file_data")
	if err != nil {
		return err
	}
	if p.FileName != "" {
		f.Name = p.FileName
	}
	s.Files = append(s.Files, f)
	return nil
}

// dataURL takes the file out of a data: URL (RFC 2397), which must be in
// base64.
func dataURL(address, param string) (File, error) {
	head, body, ok := strings.Cut(strings.TrimPrefix(address, "data:"), ",")
	head, inBase64 := strings.CutSuffix(head, ";base64")
	if !ok || !inBase64 || !strings.HasPrefix(address, "data:") {
		return File{}, Wrong(param, "must be a data: URL in base64")
	}
	content, err := base64.StdEncoding.DecodeString(body)
	if err != nil || len(content) == 0 {
		return File{}, Wrong(param, "is not base64")
	}
	kind, _, err := mime.ParseMediaType(head)
	if err != nil {
		return File{}, Wrong(param, "names no media type")
	}
	return File{Name: fileName(kind), Kind: kind, Content: content}, nil
}

// fileName returns a name for a file that came without.
func fileName(kind string) string {
	class, form, _ := strings.Cut(kind, "/")
	switch kind {
	case "image/jpeg":
		return "image.jpg"
	case "text/plain":
		return "file.txt"
	}
	if class == "image" {
		return "image." + form
	}
	return "file." + form
}
