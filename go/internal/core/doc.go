// Package core is what the admission plugins share in using the core: plans by kind of request (Key, Cache, Plan), the request's record
// (Plan.Encode), and what a request works with, among it
// answers to the core's questions that do not depend on the plugin (Work).
package core
