package wire

import "encoding/binary"

// AnswerStatus says what an answer is.
type AnswerStatus uint32

const (
	// Answered means that the bytes are the answer.
	Answered AnswerStatus = 0
	// NotFound means that what was asked for does not exist.
	NotFound AnswerStatus = 1
	// Failed means that the bytes are an error's text.
	Failed AnswerStatus = 2
)

// Answers encodes the answers to one call's questions (docs/abi.md, "Questions and answers"). The zero value has none.
type Answers struct {
	data  []byte
	count uint32
}

// ended is the id of what is told without being asked.
const ended = ^uint32(0)

// End tells that the request's context has ended, and why.
func (a *Answers) End(cause error) { a.Add(ended, Failed, []byte(cause.Error())) }

// Add answers the question with this id.
func (a *Answers) Add(id uint32, status AnswerStatus, answer []byte) {
	if len(a.data) == 0 {
		a.data = append(a.data, 0, 0, 0, 0)
	}
	a.count++
	a.data = binary.LittleEndian.AppendUint32(a.data, id)
	a.data = binary.LittleEndian.AppendUint32(a.data, uint32(status))
	a.data = binary.LittleEndian.AppendUint32(a.data, uint32(len(answer)))
	a.data = append(a.data, answer...)
}

// Len is the number of answers.
func (a *Answers) Len() int { return int(a.count) }

// Bytes is the encoded answers, empty when there are none; valid until the next Add or Reset.
func (a *Answers) Bytes() []byte {
	if a.count == 0 {
		return nil
	}
	binary.LittleEndian.PutUint32(a.data, a.count)
	return a.data
}

// Reset drops the answers and keeps their memory.
func (a *Answers) Reset() {
	a.data, a.count = a.data[:0], 0
}
