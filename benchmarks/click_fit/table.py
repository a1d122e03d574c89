"""The race as a table, losses like wins, and the notes below it."""

import math

from benchmarks.click_fit.contender import OURS, Contender

#: At least so many times our time: with nothing set, and to the common AUC by whether the columns are many.
FINISH = {
    "sklearn_lbfgs": 20,
    "sklearn_liblinear": 80,
    "liblinear_primal": 80,
    "liblinear_dual": 80,
    "liblinear_default": 80,
    "snapml": 4,
}
REACH = {False: {"snapml": 4}, True: {"snapml": 3}}
#: Memory of ours in copies of the CSR matrix, where the columns are many.
MEMORY = 1.5
#: From here on the columns are many.
WIDE = 2**16

HEAD = (
    "contender",
    "version",
    "nothing set",
    "÷ ours",
    "AUC",
    "to the common AUC",
    "÷ ours",
    "set to",
    "peak memory beyond the data",
)


def rows(race, columns):
    """Rows for :func:`benchmarks.timing.report`, the head first."""
    order = sorted(race.contenders, key=lambda name: _place(race, name))
    lines = [HEAD, *((race.contenders[name].title, *_cells(race, name, columns >= WIDE)) for name in order)]
    return [(first, " | ".join(rest), "") for first, *rest in lines]


def _place(race, name):
    cheapest = race.cheapest(name)
    reached = race.seconds(name, cheapest) if cheapest is not None else math.inf
    return not race.contenders[name].linear, name != OURS, not race.fits(name), reached, race.seconds(name, {})


def _cells(race, name, wide):
    version = race.versions[name]
    if not version:
        return ("not installed here", *["–"] * 7)
    if not race.fits(name):
        return (version, "not measured", *["–"] * 6)
    cheapest = race.cheapest(name)
    # one that is not linear is not in this race
    linear = race.contenders[name].linear
    reach_target = REACH[wide].get(name)
    return (
        version,
        _time(race, name, {}),
        _ratio(race, name, {}, {}, FINISH.get(name)),
        _auc(race, name),
        "–" if not linear else _time(race, name, cheapest) if cheapest is not None else _not_there(race, name),
        _ratio(race, name, cheapest, race.cheapest(OURS), reach_target) if linear else "–",
        _words(cheapest) if linear and cheapest is not None else "–",
        _memory(race, name, cheapest, wide),
    )


def _time(race, name, setting):
    seconds = race.seconds(name, setting)
    if seconds < math.inf:
        return f"{seconds:.2f} s" if seconds < 100 else f"{seconds:.0f} s"
    ended = race.records(name, setting)
    if not ended:
        return "not measured"
    return f"more than {ended[0]['limit']:g} s" if "limit" in ended[0] else f"failed: {_plain(ended[0]['why'])}"


def _not_there(race, name):
    found = [race.auc(name, each) for each in race.tried(name)]
    return f"not reached (best {max(found):.4f})" if found else "not reached"


def _ratio(race, name, setting, ours, target):
    if name == OURS:
        return "1" if setting is not None and race.seconds(name, setting) < math.inf else "–"
    aim = f"at least {target}" if target else ""
    own = race.seconds(OURS, ours) if ours is not None else math.inf
    if own == math.inf:
        return f"– ({aim})" if aim else "–"
    seconds, bound = race.seconds(name, setting) if setting is not None else math.inf, ""
    if seconds == math.inf:
        limits = (
            [each["limit"] for each in race.records(name, setting) if "limit" in each]
            if setting is not None
            else []
        )
        if not limits:
            return f"– ({aim})" if aim else "–"
        seconds, bound = max(limits), "more than "
    ratio = seconds / own
    shown = (
        f"{bound}{ratio:.2f}" if ratio < 1 else f"{bound}{ratio:.1f}" if ratio < 100 else f"{bound}{ratio:.0f}"
    )
    if not aim:
        return shown
    return f"{shown} ({aim})" if ratio >= target else f"{shown} ({aim}: missed)"


def _auc(race, name):
    auc = race.auc(name, {})
    if auc is None:
        return "–"
    if race.contenders[name].linear:
        return f"{auc:.4f}"
    ahead = auc - race.best_linear()[0]
    return f"{auc:.4f}, {abs(ahead):.4f} {'above' if ahead > 0 else 'below'} the best linear one"


def _memory(race, name, cheapest, wide):
    settings = [{}] if cheapest is None else [{}, cheapest]
    found = [each for setting in settings for each in race.records(name, setting) if "megabytes" in each]
    if not found:
        return "–"
    most = max(found, key=lambda each: each["megabytes"])
    copies = most["megabytes"] / most["csr_megabytes"]
    shown = f"{most['megabytes']:.0f} MB, {copies:.2f} × CSR"
    if name == OURS and wide:
        shown += f" (below {MEMORY}{'' if copies < MEMORY else ': missed'})"
    return shown


def _words(setting):
    return (
        ", ".join(
            f"{key}={value:.3g}" if isinstance(value, float) else f"{key}={value}"
            for key, value in setting.items()
        )
        or "nothing"
    )


def _plain(why):
    """An error's message in a cell of a table."""
    return why.replace("|", "/").replace("\n", " ")[:80]


def notes(race, data, load):
    """What one has to know to read the table."""
    best, winner = race.best_linear()
    title = race.contenders[winner].title if winner else "nobody"
    said = [
        f"{data.rows:,} rows to learn from, {data.rows // 5:,} to test on, {data.columns:,} columns, "
        f"seed {data.seed}; best linear AUC {best:.5f} ({title}), common AUC {best - race.within:.5f}",
        f"best of {race.repeats} fits in separate processes, one if a fit takes more than {race.long:g} s; "
        "four penalties each, then the smallest budget that reaches the common AUC; only fits are timed; "
        f"load of the machine before the run: {load:.1f}",
    ]
    own_format = [
        f"{contender.title} {max(each.get('converted', 0) for each in race.fits(name)):.1f} s"
        for name, contender in race.contenders.items()
        if type(contender).convert is not Contender.convert and race.fits(name)
    ]
    if own_format:
        said.append(f"not timed: conversion of the data to the format of {', '.join(own_format)}")
    said += [
        f"{race.contenders[name].title}: {what} takes {seconds:.2f} s, within its times"
        for name in race.contenders
        for what, seconds in race.remarks(name).items()
    ]
    edges = [contender.title for name, contender in race.contenders.items() if _at_edge(race, name)]
    if edges:
        said.append(f"the best penalty is the smallest or the largest of the four for: {', '.join(edges)}")
    return said


def _at_edge(race, name):
    best = race.best_penalty(name)
    return best is not None and best in (0, len(race.contenders[name].searched(race.rows)) - 1)
