import warnings

from mbauc.cli.advice import in_options
from mbauc.errors import Advice, PenaltyWarning
from mbauc.runtime.warn import warn


def test_the_text_of_a_warning_is_plain_and_its_advice_is_kept():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn("too few. " + Advice("Pass {l2}.", l2=1.0), PenaltyWarning)
    [one] = caught
    assert type(str(one.message)) is str
    assert all(type(text) is str for text in one.message.args)
    assert str(one.message) == "too few. Pass l2=1.0."
    assert in_options(one.message) == "too few. Pass --l2 1.0."
