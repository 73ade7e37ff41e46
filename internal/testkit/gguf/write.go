package gguf

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// File is a model file of version 3 of the format
// (github.com/ggml-org/ggml/blob/master/docs/gguf.md). All tensors are of 32-bit floats.
type File struct {
	Meta    []Meta
	Tensors []Tensor
}

// Meta is what a file says of itself under one key. The value is a uint32, float32, bool,
// string, or a list of strings or of int32.
type Meta struct {
	Key   string
	Value any
}

// Tensor is a matrix, or a vector, of numbers; a row's numbers are side by side.
type Tensor struct {
	Name   string
	Shape  []int // the length of a row, then the number of rows
	Values []float32
}

// alignment is where tensors may begin, for files that do not say otherwise.
const alignment = 32

// The types of values, by the numbers of the format. The type of tensors, 32-bit floats, is 0.
const (
	typeUint32  = 4
	typeInt32   = 5
	typeFloat32 = 6
	typeBool    = 7
	typeString  = 8
	typeArray   = 9
)

// Write writes the file.
func (f *File) Write(w io.Writer) error {
	e := &encoder{out: bufio.NewWriterSize(w, 1<<20)}
	e.bytes([]byte("GGUF"))
	e.number(uint32(3))
	e.number(uint64(len(f.Tensors)))
	e.number(uint64(len(f.Meta)))
	for _, m := range f.Meta {
		e.text(m.Key)
		e.value(m.Value)
	}
	var offset int
	for _, t := range f.Tensors {
		e.tensor(t, offset)
		offset += padded(4 * len(t.Values))
	}
	e.pad()
	for _, t := range f.Tensors {
		e.number(t.Values)
		e.pad()
	}
	if e.err != nil {
		return e.err
	}
	return e.out.Flush()
}

func padded(n int) int { return (n + alignment - 1) / alignment * alignment }

// encoder writes until the first error, which it keeps.
type encoder struct {
	out *bufio.Writer
	n   int
	err error
}

func (e *encoder) bytes(b []byte) {
	if e.err == nil {
		_, e.err = e.out.Write(b)
		e.n += len(b)
	}
}

// number writes a number of a fixed size, or a list of them.
func (e *encoder) number(v any) {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil && e.err == nil {
		e.err = err
	}
	e.bytes(b)
}

func (e *encoder) text(s string) {
	e.number(uint64(len(s)))
	e.bytes([]byte(s))
}

func (e *encoder) value(v any) {
	switch v := v.(type) {
	case uint32:
		e.number(uint32(typeUint32))
		e.number(v)
	case float32:
		e.number(uint32(typeFloat32))
		e.number(v)
	case bool:
		e.number(uint32(typeBool))
		e.number(v)
	case string:
		e.number(uint32(typeString))
		e.text(v)
	case []int32:
		e.list(typeInt32, len(v))
		e.number(v)
	case []string:
		e.list(typeString, len(v))
		for _, s := range v {
			e.text(s)
		}
	default:
		if e.err == nil {
			e.err = fmt.Errorf("write a value of type %T: the format has it, this package does not", v)
		}
	}
}

func (e *encoder) list(kind uint32, length int) {
	e.number(uint32(typeArray))
	e.number(kind)
	e.number(uint64(length))
}

// tensor writes what is known of a tensor; its numbers follow after all others.
func (e *encoder) tensor(t Tensor, offset int) {
	e.text(t.Name)
	e.number(uint32(len(t.Shape)))
	size := 1
	for _, n := range t.Shape {
		e.number(uint64(n))
		size *= n
	}
	if size != len(t.Values) && e.err == nil {
		e.err = fmt.Errorf("write the tensor %q: %d numbers for the shape %v", t.Name, len(t.Values), t.Shape)
	}
	e.number(uint32(0))
	e.number(uint64(offset))
}

func (e *encoder) pad() { e.bytes(make([]byte, padded(e.n)-e.n)) }
