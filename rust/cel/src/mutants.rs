//! Bugs that can be planted, one at a time, to show that the differential tests find them (feature `mutants`).
//!
//! Without the feature [`planted`] is a constant, and nothing of this is left in the library.

#[cfg(feature = "mutants")]
use std::sync::atomic::{AtomicU32, Ordering};

#[cfg(feature = "mutants")]
static PLANTED: AtomicU32 = AtomicU32::new(0);

/// A bug: where it is, and what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Mutant {
    /// No bug.
    None = 0,
    /// `int + int` saturates instead of failing.
    IntAddSaturates,
    /// `uint - uint` wraps around.
    UintSubtractWraps,
    /// `%` has the sign of the divisor.
    ModuloIsEuclidean,
    /// `timestamp + duration` loses fractions of a second.
    TimeDropsNanoseconds,
    /// `-x` of the smallest int is that int.
    NegateMinimum,
    /// NaN compares as equal instead of failing.
    NanIsOrdered,
    /// Great uints compare as negative ints.
    UintComparesAsInt,
    /// `true < false`.
    FalseIsGreater,
    /// `int(-2^63 as a double)` is allowed.
    DoubleToIntIncludesEnd,
    /// `null` equals any int on its right.
    NullEqualsInt,
    /// Values read by reflection compare as leniently as others.
    TypedIsLenient,
    /// A mismatch with a value read by reflection is false instead of an error.
    TypedMismatchIsFalse,
    /// Lists of different length can be equal.
    SizeIsNotCompared,
    /// `bool('yes')` is true.
    BoolTakesYes,
    /// `uint('+7')` is 7.
    UintTakesPlus,
    /// `int(duration)` gives seconds.
    DurationAsSeconds,
    /// Timestamps beyond the year 9999 are allowed.
    TimestampIsUnbounded,
    /// `size()` of a string counts bytes.
    SizeInBytes,
    /// An optional counts as 1.
    OptionalHasNoSize,
    /// A tenth of a size is rounded down.
    TraversalRoundsDown,
    /// `matches` costs by the pattern alone.
    MatchesIgnoresText,
    /// `contains` costs the sum of its sizes.
    ContainsIsAdded,
    /// `!=` costs 1.
    NotEqualIsFree,
    /// `charAt` at the end is an error.
    CharAtEndFails,
    /// `substring` includes its end.
    SubstringEndIncluded,
    /// `indexOf('', n)` is 0.
    IndexOfEmptyIsZero,
    /// `lastIndexOf` from the end on finds what begins earlier.
    LastIndexOfFromEnd,
    /// `slice` beyond the end ends there.
    SliceIsClamped,
    /// `flatten()` flattens one level more.
    FlattenIsDeep,
    /// `distinct` does not see equal neighbours.
    DistinctKeepsLast,
    /// `sort` takes keys of several types.
    SortMixesTypes,
    /// `sets.equivalent` looks one way only.
    EquivalentIsOneSided,
    /// `optional.ofNonZeroValue(0.0)` has a value.
    ZeroDoubleIsValue,
    /// An empty value read by reflection is zero.
    TypedZeroIsNone,
    /// A comprehension's map takes a key twice.
    InsertReplaces,
    /// A uint finds no int key.
    KeysDoNotCross,
    /// The checker does not take null for library types.
    NullFitsNothing,
    /// The checker keeps the first binding of a type variable instead of the more general.
    VariablesStayFirst,
    /// The checker does not compare key types of maps.
    MapKeysUnchecked,
    /// The checker stops at the first overload that fits.
    FirstOverloadWins,
    /// Messages do not show the receiver of a method.
    MethodsWithoutReceiver,
    /// Literals of mixed types pass.
    MixedLiteralsPass,
    /// `add` returns the type that `quantity` does.
    QuantityAddKeepsType,
    /// `compareTo` of quantities is reversed.
    QuantityCompareReversed,
    /// `semver` normalizes without being asked.
    SemverNormalizesAlways,
    /// A network contains the wider ones around it.
    CidrContainsWider,
    /// Parsing the text for `containsIP` costs nothing.
    CidrTextIsFree,
    /// `error && false` is the error.
    AndKeepsErrors,
    /// `none.orValue(x)` is none.
    OrValueOfNone,
    /// Maps cost what lists cost.
    MapLiteralIsCheap,
    /// Indices of two-variable comprehensions count from 1.
    SecondVariableFromOne,
    /// `all` ends true although an element failed.
    AllForgetsErrors,
    /// `has()` does not see a field that is null.
    HasSeesNull,
    /// Lists read by reflection take uints as indices.
    TypedTakesAnyIndex,
    /// Paths lead where they led in the record before.
    PathsOutliveRecord,
    /// The number of bugs, plus one.
    End,
}

/// Whether this bug is planted now.
#[inline(always)]
#[must_use]
pub fn planted(mutant: Mutant) -> bool {
    is_planted(mutant as u32)
}

/// Whether the bug of that number is planted now; crates above have numbers of their own, from 1,001 on.
#[inline(always)]
#[must_use]
pub fn is_planted(number: u32) -> bool {
    #[cfg(feature = "mutants")]
    return PLANTED.load(Ordering::Relaxed) == number;
    #[cfg(not(feature = "mutants"))]
    {
        let _ = number;
        false
    }
}

/// Plants the bug of that number, 0 for none. Returns how many there are: 1 to that number.
#[cfg(feature = "mutants")]
pub fn plant(number: u32) -> u32 {
    PLANTED.store(number, Ordering::Relaxed);
    Mutant::End as u32 - 1
}
