# Compares the output of `test -test.v` (standard input) with a list of known failures.
#
#   awk -v suite=NAME -v status=EXIT_STATUS -v known=FILE -v sabotage=0|1 -f compare.awk
#
# Prints what passes and what does not; exits with 1 when that is not what was expected. A test
# whose subtests fail is not counted itself.

BEGIN {
	while ((getline line < known) > 0) {
		reason = line
		if (!sub(/^[^#]*#[ ]*/, "", reason)) reason = ""
		sub(/[ ]*#.*/, "", line)
		if (split(line, field, " ") == 2 && field[1] == suite) expected[field[2]] = reason
	}
}

/^=== RUN / { if (!($3 in verdict)) { verdict[$3] = "UNFINISHED"; order[++n] = $3 } }

# The verdict can follow other output on its line.
match($0, /--- (PASS|FAIL|SKIP): [^ ]+ \(/) {
	split(substr($0, RSTART, RLENGTH), word, " ")
	sub(/:$/, "", word[2])
	if (!(word[3] in verdict)) order[++n] = word[3]
	verdict[word[3]] = word[2]
}

function bad(name) { return verdict[name] == "FAIL" || verdict[name] == "UNFINISHED" }

END {
	for (i = 1; i <= n; i++) {
		if (!bad(order[i])) continue
		parent = order[i]
		while (sub(/\/[^\/]*$/, "", parent)) has_bad_child[parent] = 1
	}
	for (i = 1; i <= n; i++) {
		name = order[i]
		if (bad(name)) {
			if (name in has_bad_child) continue
			if (name in expected) { printf "known      %s (%s)\n", name, expected[name]; known_count++ }
			else { printf "%-10s %s\n", verdict[name] == "FAIL" ? "FAIL" : "UNFINISHED", name; failed++ }
		} else if (verdict[name] == "SKIP") { printf "skipped    %s\n", name; skipped++ }
		else {
			passed++
			if (name in expected) { printf "FIXED      %s passes: take it out of known-failures.txt\n", name; fixed++ }
		}
	}
	for (name in expected) if (!(name in verdict)) { printf "MISSING    %s is listed but did not run\n", name; missing++ }
	printf "%s: %d passed, %d failed, %d known failures, %d skipped\n", suite, passed, failed, known_count, skipped
	if (sabotage) exit(failed + known_count >= 20 ? 0 : 1)
	if (n == 0) { print "no test ran"; exit 1 }
	if (status != 0 && failed + known_count == 0) { printf "every test passed, but the program ended with %d\n", status; exit 1 }
	exit(failed + fixed + missing > 0 ? 1 : 0)
}
