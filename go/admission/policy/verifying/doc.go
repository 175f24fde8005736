// Package verifying is the admission plugin ValidatingAdmissionPolicy with upstream's engine, beside which celgate's decides the same
// requests: for those who want to see on their own cluster that both decide alike before they switch.
//
// What the client gets is upstream's answer alone. celgate's is made afterwards, of a copy of the request and in a goroutine of its own
// (plugin.go), and compared with it (compare.go). Each comparison is counted, and a difference is logged without any part of the object
// (metrics.go).
package verifying
