package verifying

import (
	"bytes"
	"io"
)

// twice makes two readers of one; nil stays nil.
func twice(reader io.Reader) (one, other io.Reader, err error) {
	if reader == nil {
		return nil, nil, nil
	}
	content, err := io.ReadAll(reader)
	return bytes.NewReader(content), bytes.NewReader(content), err
}
