"""What tests of single passes share: typed IR before and after one, what is noted about functions."""

import textwrap

from krait import _testing

A1 = "array(float64, 1, C)"


def run(name, text):
    return _testing.run_pass(name, textwrap.dedent(text))


def noted(name, text):
    """What the pass says about the function: the comments above its text, which must not have changed."""
    after = run(name, text).splitlines()
    facts = [line for line in after if line.startswith("; ")]
    assert after[len(facts) :] == textwrap.dedent(text).splitlines()
    return facts
