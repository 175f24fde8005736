package differential

// smallest makes a tree smaller as long as differs holds.
func smallest(from *tree, differs func(*tree) bool) *tree {
	for tries := 3000; ; {
		var smaller *tree
		found := from.replacements(func(candidate *tree) bool {
			if tries--; tries < 0 {
				return true
			}
			if len(candidate.String()) >= len(from.String()) || !differs(candidate) {
				return false
			}
			smaller = candidate
			return true
		})
		if !found || tries < 0 || smaller == nil {
			return from
		}
		from = smaller
	}
}
