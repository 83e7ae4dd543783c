"""The probability of each branch that its approval rate is the highest, in exact fractions; known_values.rs has the results.

Each argument is one case: `8/10,6/10,3/4` is three branches with their approved and tried charges. The prior is flat.
"""

import sys
from fractions import Fraction
from itertools import product
from math import comb, factorial, prod


def beta(a, b):
    return Fraction(factorial(a - 1) * factorial(b - 1), factorial(a + b - 1))


def best(rates):
    """The integral of each density times the distribution functions of all others.

    For whole a and b the distribution function at x is the sum over m from a to n of C(n, m) x^m (1-x)^(n-m), n = a + b - 1.
    """
    probabilities = []
    for branch, (a, b) in enumerate(rates):
        others = [(c, c + d - 1) for other, (c, d) in enumerate(rates) if other != branch]
        total = Fraction(0)
        for powers in product(*[range(c, n + 1) for c, n in others]):
            ways = prod(comb(n, m) for m, (_, n) in zip(powers, others))
            total += ways * beta(a + sum(powers), b + sum(n - m for m, (_, n) in zip(powers, others)))
        probabilities.append(total / beta(a, b))
    assert sum(probabilities) == 1
    return probabilities


for case in sys.argv[1:]:
    counts = [tuple(map(int, branch.split("/"))) for branch in case.split(",")]
    rates = [(approved + 1, tried - approved + 1) for approved, tried in counts]
    print(case, [round(float(probability) * 1e6, 3) for probability in best(rates)])
