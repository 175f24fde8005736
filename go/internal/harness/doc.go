// Package harness runs an admission plugin over a small cluster made of fake clients and records everything that a user could see of a
// request: the error, warnings and audit annotations. The same cluster under upstream's plugin and under celgate's shows whether they agree.
package harness
