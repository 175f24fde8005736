// Package soak runs celgate's plugin under load while everything that it knows changes: policies, bindings, params, namespaces, the kinds that
// are served. Each answer is compared with upstream's.
//
// # What an answer is compared with
//
// An author and a player have a state (harness.State) each, which begin alike and get the same changes. The author applies a change to its
// state, which upstream's dispatcher works over, and asks upstream about each of some requests after every part of the change: so it knows
// upstream's answers in each state, before the player comes there. A number of changes with these answers is an episode. The player applies the
// same changes to its state, over which celgate's plugin works as it is, with its own source, informers' handlers and timers, while workers send it
// the same requests, without a lock between them and the changes. A worker notes in which state a request began and in which it ended.
//
//   - In a state that has been reached (the change was made, the plugin refreshed) the answer is upstream's in that state, and no other.
//   - A request that runs while a part of a change is made gets upstream's answer before it or that after it, no mixture and nothing else.
//   - A worker that has seen the answer after a part never sees that before it again.
//
// For the second to be exact, no request meets two changes: the next part waits until all requests have ended that began before the last one
// was done. A change is made in parts, because a namespace, say, is seen by listers before it is seen as a param, a custom object in one version of
// its kind before the next, and a new object can be read by its name before informers list it. While discovery itself is exchanged, which a
// request asks for each param that it fetches, no request runs; taking it over is done among requests again. A change that informers have not
// heard of is only made to what they do not know: of a param that they know in an older version celgate sees the new one while the informer of
// its kind starts (docs/differences.md, kubernetes#141367).
//
// # What else is checked
//
//   - Memory: between rounds both states return to what they began with, so that what is in use then must not grow: Go's heap after collections, what
//     the process holds outside Go's heap (the core), the handles of the C ABI. Metrics are reset before: they keep the names of all policies that
//     there ever were. Judged is the slope of the floor (the least in each of four windows) over the last two thirds of the run, as soon as these
//     are 15 minutes; in shorter runs only large leaks show.
//   - Handles and goroutines: when the plugin has ended, they are back to what they were before it began.
//   - Time, in plain builds: some episodes are measured. During these upstream rests, a processor is left to the changes, and the same
//     workers' requests with and without changes are timed: p99.9 with changes is at most twice that without.
//   - Bugs that are planted in the core (`make soak-mutants`), except what no answer shows: ConditionErrorsUncounted changes a metric.
//   - Coverage: a run in which few changes change an answer, or in which no request was answered while its answer changed, has shown nothing and fails.
//
// The race detector, AddressSanitizer and collections that are forced between reading a handle and using it (build tag gcstress) come with the
// flags of the build; see `make soak`.
package soak
