package differential

import "math/rand/v2"

func pick[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }
