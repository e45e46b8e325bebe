"""The arithmetic of the evaluator: measures, ranges, agreement between judges, paired tests.

Pure functions of numbers: no files, no options. evaluate.py says which numbers go in.

Names: g is a grade, 0, 1 or 2, and None where a judge gave none. `window` lists the positions in a
query's pool of the first five that a system returned, in its order. `grades` lists one judge's
grades of that whole pool, by position. Values are floats that nothing has rounded.

Every sum of floats is math.fsum, and every resampling adds integers, so that the results are the
same on every Python and do not depend on an order of addition.
"""

import bisect
import collections
import itertools
import math
import random
import struct

CUTOFF = 5
GRADES = (0, 1, 2)
DISCOUNTS = [1 / math.log2(rank + 1) for rank in range(1, CUTOFF + 1)]


################ Measures of one ranking by one judge

def dcg(gains):
    """Return the discounted cumulative gain of at most five gains in order.

    The sum of g / log2(rank + 1): Järvelin and Kekäläinen, ACM TOIS 20(4), 2002, in the form that
    trec_eval's ndcg_cut uses.
    """
    return math.fsum(map(float.__mul__, DISCOUNTS, map(float, gains)))


def ndcg(window, grades):
    """Return the DCG of a window over that of the pool in the ideal order, or None without gain."""
    ideal = dcg(sorted(grades, reverse=True)[:CUTOFF])
    return dcg(grades[place] for place in window) / ideal if ideal else None


def precision(window, grades, least):
    """Return how many of the window have at least a grade, over five, filled or not."""
    return sum(grades[place] >= least for place in window) / CUTOFF


def reciprocal_rank(window, grades, least):
    """Return 1 / rank of the first of the window with at least a grade, 0 for none."""
    return next((1 / rank for rank, place in enumerate(window, 1) if grades[place] >= least), 0.0)


################ Ranges that missing grades leave open

# low and high are attained. open: some of the grades leave the measure undefined.
Range = collections.namedtuple("Range", "low high open")


def ndcg_range(windows, grades):
    """Return the Range of nDCG over all grades that may stand for None; None if never defined.

    windows: of one system, or of two for the Range of the first's nDCG less the second's.

    The ideal depends only on how many grades are 2 and how many 1. The rest is a weighted sum of
    grades. With those numbers given, it is greatest when the greatest grades stand at the greatest
    weights (the rearrangement inequality). So it is enough to try the numbers. And since the ideal
    has five places, of the candidates without weight no more than five can matter.
    """
    weights = weights_of(windows, DISCOUNTS)
    known = math.fsum(weight * (grades[place] or 0) for place, weight in weights.items())
    free = [weight for place, weight in weights.items() if grades[place] is None]
    free += [0.0] * min(CUTOFF, grades.count(None) - len(free))
    least, most = sums_of_first(sorted(free)), sums_of_first(sorted(free, reverse=True))
    ideals = sums_of_first(DISCOUNTS)
    twos, gains = grades.count(2), grades.count(2) + grades.count(1)
    values = []
    for more_gains in range(len(free) + 1):
        for more_twos in range(more_gains + 1):
            ideal = (ideals[min(CUTOFF, twos + more_twos)]
                     + ideals[min(CUTOFF, gains + more_gains)])
            if ideal:
                values.append((known + least[more_twos] + least[more_gains]) / ideal)
                values.append((known + most[more_twos] + most[more_gains]) / ideal)
    return Range(min(values), max(values), not gains) if values else None


def precision_range(windows, grades, least):
    """Return the Range of precision, or of a difference, over all grades that may stand for None.

    Every candidate counts for itself, so each unknown one adds its weight or does not.
    """
    weights = weights_of(windows, [1] * CUTOFF)
    known = sum(weight for place, weight in weights.items() if (grades[place] or 0) >= least)
    free = [weight for place, weight in weights.items() if grades[place] is None]
    return Range((known + sum(weight for weight in free if weight < 0)) / CUTOFF,
                 (known + sum(weight for weight in free if weight > 0)) / CUTOFF, False)


def reciprocal_rank_range(windows, grades, least):
    """Return the Range of reciprocal rank, or of a difference, over all grades for None.

    A system's value hangs on one candidate, and to make another one relevant as well can only help
    the other system. So it is enough to try none of the unknown ones, and each of them alone.
    """
    places = {place: grades[place] or 0 for window in windows for place in window}
    values = []
    for alone in [None, *(place for place in places if grades[place] is None)]:
        tried = places if alone is None else {**places, alone: least}
        first, *second = (reciprocal_rank(window, tried, least) for window in windows)
        values.append(first - second[0] if second else first)
    return Range(min(values), max(values), False)


def weights_of(windows, by_rank):
    """Return {place: weight by rank} of a window, or of the first less the second."""
    weights = {place: 0 for window in windows for place in window}
    for sign, window in zip((1, -1), windows):
        for weight, place in zip(by_rank, window):
            weights[place] += sign * weight
    return weights


def sums_of_first(values):
    """Return the sums of the first 0, 1, 2, ... values."""
    return list(itertools.accumulate(values, initial=0.0))


def mean_range(ranges):
    """Return the Range of the mean over judges from each judge's Range, or None.

    A judge whose grades leave the measure undefined is left out of the mean, as anywhere else. So
    the least mean takes such a judge in only where that makes it less.
    """
    ranges = [one for one in ranges if one is not None]
    if not ranges:
        return None
    low = least_mean([one.low for one in ranges if not one.open],
                     [one.low for one in ranges if one.open])
    high = least_mean([-one.high for one in ranges if not one.open],
                      [-one.high for one in ranges if one.open])
    return Range(low, 0.0 - high, all(one.open for one in ranges))


def least_mean(fixed, optional):
    """Return the least mean of all fixed values and any of the optional ones."""
    chosen = list(fixed)
    for value in sorted(optional):
        if not chosen or value < mean(chosen):
            chosen.append(value)
    return mean(chosen)


################ Means and comparisons

def mean(values):
    """Return the mean of numbers that are there, leaving None out; None for none."""
    values = [value for value in values if value is not None]
    return math.fsum(values) / len(values) if values else None


UNIT = 10 ** 12         # a difference between two systems is counted in steps of 1 / UNIT
LANE = 1 << 41          # what makes any step positive
MOST_EXACT = 20         # differences that are not zero, for the test over every sign pattern


def steps(difference):
    """Return a difference in whole steps, so that equal sums are equal, not nearly."""
    return round(difference * UNIT)


def exact_sign_flip(differences):
    """Return the two-sided p value of the sum over every pattern of signs.

    The share of patterns whose sum is at least as far from 0 as the one observed: Fisher, The
    Design of Experiments, 1935, section 21. differences: steps. Two halves are summed apart and
    matched in order, which gives the count without going through all patterns.
    """
    differences = [value for value in differences if value]
    far = abs(sum(differences))
    if not far:
        return 1.0
    half = len(differences) // 2
    one, two = (sorted(signed_sums(part)) for part in (differences[:half], differences[half:]))
    # Patterns come in pairs of opposite sums, so those above are as many as those below.
    above = sum(len(two) - bisect.bisect_left(two, far - value) for value in one)
    return 2 * above / (len(one) * len(two))


def signed_sums(values):
    """Return the sums of values under every pattern of signs."""
    sums = [0]
    for value in values:
        sums = [total + signed for total in sums for signed in (value, -value)]
    return sums


def packed(row):
    """Return one integer that holds a row of integers from 0 in lanes of 64 bits.

    Sums of such integers are sums lane by lane: all comparisons are resampled in one addition.
    """
    return int.from_bytes(struct.pack(f"<{len(row)}q", *row), "little")


def unpacked(total, size):
    """Return the row of that many integers that an integer holds in lanes."""
    return struct.unpack(f"<{size}q", total.to_bytes(8 * size, "little"))


def sampled_sign_flips(columns, resamples, seed):
    """Return for each comparison the p value over random patterns of signs, (b + 1) / (B + 1).

    columns: for each comparison its steps, one for each query, 0 where there is none. b of the B
    patterns have a sum at least as far from 0 as the one observed, which counts as one more:
    Phipson and Smyth, Statistical Applications in Genetics and Molecular Biology 9(1), 2010.
    Random(seed).getrandbits gives one bit for each query, and 1 turns its sign.
    """
    observed = [sum(column) for column in columns]
    rows = [packed([value + LANE for value in row]) for row in zip(*columns)]
    tables = [subset_sums(rows[start:start + 8]) for start in range(0, len(rows), 8)]
    draw, as_far = random.Random(seed).getrandbits, [0] * len(columns)
    for _ in range(resamples):
        bits = draw(len(rows))
        chosen = bits.to_bytes(len(tables), "little")
        turned = sum(table[byte] for table, byte in zip(tables, chosen))
        extra = LANE * bin(bits).count("1")
        for place, part in enumerate(unpacked(turned, len(columns))):
            total = observed[place]
            as_far[place] += abs(total - 2 * (part - extra)) >= abs(total)
    return [(count + 1) / (resamples + 1) for count in as_far]


def subset_sums(values):
    """Return the sum of every subset of values; bit i of a place says whether value i is in it."""
    sums = [0]
    for value in values:
        sums += [total + value for total in sums]
    return sums


def bootstrap_intervals(columns, resamples, seed):
    """Return for each comparison the 95 % percentile bootstrap interval of its mean, or None.

    columns: for each comparison its steps, one for each query, None where there is none. Each
    resample draws as many queries as there are, with int(n * Random(seed).random()), and takes the
    mean over those that have a difference. The ends are the k-th least and the k-th greatest mean,
    k = (B + 1) / 40 rounded down: Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
    section 13.3.
    """
    present = [tuple(value is not None for value in column) for column in columns]
    kinds = list(dict.fromkeys(present))    # most comparisons have the same queries
    rows = [packed([0 if value is None else value + LANE for value in row] + list(counts))
            for row, counts in zip(zip(*columns), zip(*kinds))]
    size, draw, means = len(rows), random.Random(seed).random, [[] for _ in columns]
    count_at = [len(columns) + kinds.index(kind) for kind in present]
    for _ in range(resamples):
        lanes = unpacked(sum([rows[int(size * draw())] for _ in rows]), len(columns) + len(kinds))
        for kept, part, place in zip(means, lanes, count_at):
            if lanes[place]:
                kept.append((part - LANE * lanes[place]) / lanes[place])
    return [interval(kept) for kept in means]


def interval(means):
    """Return the ends of the percentile interval of resampled means in steps, or None."""
    place = max(1, (len(means) + 1) // 40)
    means = sorted(means)
    return [means[place - 1] / UNIT, means[-place] / UNIT] if means else None


def holm(p_values):
    """Return p values adjusted for their number: Holm, Scandinavian Journal of Statistics 6, 1979.

    The i-th least of m is multiplied by m - i + 1, is at least the one before it, at most 1.
    """
    adjusted, before = [None] * len(p_values), 0.0
    for i, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        before = max(before, min(1.0, (len(p_values) - i) * p_values[place]))
        adjusted[place] = before
    return adjusted


################ Agreement between judges

def table_of(one, two):
    """Return the 3 by 3 table of two judges' grades: rows are the first's; None is left out."""
    pairs = collections.Counter(zip(one, two))
    return [[pairs[row, column] for column in GRADES] for row in GRADES]


def raw_agreement(table):
    """Return the share of the candidates that two judges graded the same, None without any."""
    total = sum(map(sum, table))
    return sum(table[g][g] for g in GRADES) / total if total else None


def quadratic_kappa(table):
    """Return the kappa of a table with weights (i - j) squared, or None where it is undefined.

    1 - observed / expected weighted disagreement: Cohen, Psychological Bulletin 70(4), 1968. It is
    undefined when the two judges use one and the same grade throughout.
    """
    total = sum(map(sum, table))
    rows, columns = [sum(row) for row in table], [sum(column) for column in zip(*table)]
    observed = sum((i - j) ** 2 * table[i][j] for i in GRADES for j in GRADES) * total
    expected = sum((i - j) ** 2 * rows[i] * columns[j] for i in GRADES for j in GRADES)
    return 1 - observed / expected if expected else None


def ordinal_alpha(units):
    """Return Krippendorff's alpha for ordinal grades, or None where it is undefined.

    units: for each candidate the counts (zeros, ones, twos) of its grades; one with fewer than two
    grades is left out. 1 - observed / expected disagreement, from the coincidences of grades;
    the distance of two grades is the number of grades between them, half of the two themselves
    included, squared: Krippendorff, Content Analysis, 2004, chapter 11. It is undefined when all
    grades are the same.
    """
    kinds = collections.Counter(unit for unit in units if sum(unit) > 1)
    totals = [sum(unit[g] * many for unit, many in kinds.items()) for g in GRADES]
    distance = [[(sum(totals[min(i, j):max(i, j) + 1]) - (totals[i] + totals[j]) / 2) ** 2
                 for j in GRADES] for i in GRADES]
    apart = [(i, j) for i in GRADES for j in GRADES if i != j]
    observed = math.fsum(many * unit[i] * unit[j] / (sum(unit) - 1) * distance[i][j]
                         for unit, many in kinds.items() for i, j in apart)
    expected = math.fsum(totals[i] * totals[j] * distance[i][j] for i, j in apart)
    return 1 - (sum(totals) - 1) * observed / expected if expected else None
