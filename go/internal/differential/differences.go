package differential

import (
	"regexp"
	"strings"
)

// isKnown says whether the difference is one of docs/differences.md.
func (c *Compiled) isKnown(upstream, ours string) bool {
	// Empty lists are one key of a map here.
	if strings.Contains(c.Source, "[]: ") {
		return true
	}
	// As a map, struct or list of an object is the same key each time.
	if repeatedKey.MatchString(ours) {
		return true
	}
	// So is a timestamp whose zone is not of whole hours.
	if hasPartialHourKeyTwice(c.Source) {
		return true
	}
	if strings.Contains(c.Source, "google.protobuf.") && knownOfMessages(upstream, ours) {
		return true
	}
	// What takes in an error in the place of such a text gives another error, or the same at another cost.
	if libraryInMessage.MatchString(c.Source) && strings.HasPrefix(ours, "error\t") {
		return true
	}
	// Go panics that upstream recovers from keep their verdict; their texts name Go types.
	if theirs, found := strings.CutPrefix(upstream, "error\t"); found && strings.Contains(theirs, "\tinternal error: ") {
		return strings.Contains(ours, "\tinternal error: ") && cost(upstream) == cost(ours)
	}
	// Upstream looks for a time zone's file, and says what the system says of the name.
	if _, text, found := strings.Cut(ours, "\tunknown time zone "); found && text != "" {
		return fileError.MatchString(upstream) && cost(upstream) == cost(ours)
	}
	// An error that is there as a value is no key; here it is the error.
	if strings.HasSuffix(upstream, "\tinvalid qualifier type: *types.Err") {
		return strings.HasPrefix(ours, "error\t") && cost(upstream) == cost(ours)
	}
	// What optMap names is another type in Go if it is empty.
	if strings.Contains(upstream, "*types.mutable") && strings.ReplaceAll(upstream, "*types.mutable", "*types.base") == ours {
		return true
	}
	// Texts that print values of library types name their types.
	if at := libraryType.FindStringIndex(ours); at != nil && strings.HasPrefix(ours, "error\t") {
		return strings.HasPrefix(upstream, ours[:at[0]])
	}
	// Texts that print parts of built-in objects show CEL's values, not Go's with their addresses.
	if at := goValue.FindStringIndex(upstream); at != nil && strings.HasPrefix(upstream, "error\t") {
		return strings.HasPrefix(ours, upstream[:at[0]])
	}
	// Lists in lists of such parts have no commas there.
	if strings.HasPrefix(upstream, "error\t") && strings.Contains(upstream, "[[") {
		return strings.ReplaceAll(upstream, ",", "") == strings.ReplaceAll(ours, ",", "")
	}
	return false
}

var repeatedKey = regexp.MustCompile(`\tinsert failed: key [{\[]`)

// partialHourKey finds the text of a timestamp that is a key and whose zone is off by more than whole hours.
var partialHourKey = regexp.MustCompile(`timestamp\(r?['"]+([^'"()]*[+-]\d\d:(?:0[1-9]|[1-9]\d))['"]+\)\s*:`)

func hasPartialHourKeyTwice(source string) bool {
	seen := map[string]bool{}
	for _, key := range partialHourKey.FindAllStringSubmatch(source, -1) {
		if seen[key[1]] {
			return true
		}
		seen[key[1]] = true
	}
	return false
}

// libraryInMessage finds a field of a message that is given a quantity or a version.
var libraryInMessage = regexp.MustCompile(`google\.protobuf\.[\w.]+\{[^}]*\b(quantity|semver)\(`)

var fileError = regexp.MustCompile(`\t(invalid argument|is a directory|not a directory|file name too long|malformed time zone information)$`)

var libraryType = regexp.MustCompile(`kubernetes\.[A-Z]\w+|kubernetes\.authorization\.\w+|net\.(IP|CIDR)`)

// goValue finds where the text of a Go map, pointer or struct begins.
var goValue = regexp.MustCompile(`map\[|&[{\[]|0x[0-9a-f]{6,}`)

// knownOfMessages says whether the difference is one that fields of protobuf messages have.
func knownOfMessages(upstream, ours string) bool {
	switch {
	case withoutGoTypes(upstream) == withoutGoTypes(ours):
		// Records do not carry the names of Go types.
		return true
	case strings.Contains(upstream, "\tunknown type: '"):
		// An Any packs the well-known types only.
		return strings.Contains(ours, "\tunsupported conversion to ref.Val: (*dynamicpb.Message)type_url:")
	case asText.MatchString(ours):
		// Records do not carry the texts of library values.
		return true
	}
	// Texts that print parts of messages show CEL's values, not Go's.
	if at := protoText.FindStringIndex(upstream); at != nil && strings.HasPrefix(upstream, "error\t") {
		return strings.HasPrefix(ours, upstream[:at[0]])
	}
	// Lists of built-in objects as bytes.
	return goPanic.MatchString(upstream) && strings.HasPrefix(ours, "error\t")
}

var (
	// builtInPart is the refusal of a part of a built-in object; of many such parts Go's maps take any first.
	builtInPart = regexp.MustCompile(`type conversion error from (struct type [\w.]+ to \*?\S*\w|'(list\(dyn\)|map\(dyn, dyn\))' to '\*structpb\.Value')`)
	// joined is that of one in a list joined by +.
	joined = regexp.MustCompile(`(?s)unsupported conversion to ref\.Val: \(\*?(v1|resource|semver|url|netip)\..*$`)
	// noField is the refusal of a map's entry.
	noField = regexp.MustCompile(`no such field '\w+' in type`)
	// protoText finds where the text of a message begins.
	protoText = regexp.MustCompile(`\[*(\w+_value|fields|values|key|value|type_url):`)
	asText    = regexp.MustCompile(`type conversion error from '(Quantity|Semver)' to 'string'`)
	goPanic   = regexp.MustCompile(`\tinternal error: (invalid type|reflect)`)
)

// withoutGoTypes takes from a line the names of Go types, and what is by chance.
func withoutGoTypes(line string) string {
	line = builtInPart.ReplaceAllString(line, "type conversion error from a built-in object")
	line = joined.ReplaceAllString(line, "type conversion error from a built-in object")
	line = noField.ReplaceAllString(line, "no such field in type")
	return strings.ReplaceAll(line, `"  value:`, `" value:`)
}
