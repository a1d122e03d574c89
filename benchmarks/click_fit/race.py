"""Who is measured with which setting, and when: penalties first, then ladders, then all again in turns."""

import json
import math
from statistics import median

from benchmarks.click_fit.contender import all_contenders, installed_version


class Race:
    """The fits of all contenders on some rows, those of earlier runs included.

    Parameters
    ----------
    ledger : Ledger
        Finished fits; those of other versions of a contender are passed over.
    rows : int
        Training rows.
    measure : callable, optional
        ``measure(name, settings, stop_at=, remarks=)`` gives a record for each finished fit.
    only : list of str, optional
        Who is measured; earlier fits of the others still count. Who is not installed sits out.
    within : float
        How far below the best linear AUC the common AUC is.
    repeats, long : int, float
        Fits of a setting that count, the best being taken; one if a fit takes more than ``long`` seconds.
    """

    def __init__(self, ledger, rows, measure=None, only=None, within=0.0005, repeats=3, long=12.0):
        self.contenders = all_contenders()
        self.versions = {name: installed_version(each) for name, each in self.contenders.items()}
        self.racing = [
            name for name, version in self.versions.items() if version and name in (only or self.versions)
        ]
        self.ledger, self.rows, self.measure = ledger, rows, measure
        self.within, self.repeats, self.long = within, repeats, long

    def run(self):
        for name in self.racing:
            contender = self.contenders[name]
            searched = [{**each, **contender.compared_at} for each in contender.searched(self.rows)]
            self._fill(name, [*searched, {}], count=1, remarks=True)
            # where the search ended at the limit
            self._fill(name, [{}], count=1, remarks=True)
        goal = None
        while goal != self.common_auc():
            # a ladder may find a better ranker yet, and then the others have to climb on
            goal = self.common_auc()
            for name in self.racing:
                self._climb(name, goal)
        for count in range(2, self.repeats + 1):
            for name in self.racing:
                quick = [each for each in ({}, self.cheapest(name)) if each is not None]
                quick = [each for each in quick if self.seconds(name, each) <= self.long]
                self._fill(name, quick, count)

    def _fill(self, name, settings, count, **options):
        """Measure what has been measured fewer times than that, cheap settings first."""
        missing = []
        for setting in settings:
            known = self.records(name, setting)
            if any(each["status"] == "limit" for each in known):
                break
            if len(known) < count and setting not in missing:
                missing.append(setting)
        if missing:
            self._note(self.measure(name, missing, **options))

    def _climb(self, name, goal):
        rungs = self.rungs(name)
        for passed, setting in enumerate(rungs):
            known = self.records(name, setting)
            if not known:
                self._note(self.measure(name, rungs[passed:], stop_at=goal))
                return
            if known[0]["status"] != "done" or self.auc(name, setting) >= goal:
                return

    def _note(self, records):
        for record in records:
            self.ledger.append(record)
            print(described(record), flush=True)

    def fits(self, name):
        """All fits of a contender, however they ended."""
        return [each for each in self._lines(name) if each["status"] != "remark"]

    def remarks(self, name):
        """What the contender said about itself, by name."""
        return {
            what: value
            for each in self._lines(name)
            if each["status"] == "remark"
            for what, value in each["remarks"].items()
        }

    def _lines(self, name):
        version = self.versions[name]
        return [
            each for each in self.ledger.records if each["contender"] == name and each["version"] == version
        ]

    def records(self, name, setting):
        """Fits of a contender with that setting."""
        return [each for each in self.fits(name) if _key(each["setting"]) == _key(setting)]

    def tried(self, name):
        """Settings whose fits ended well."""
        done = [each["setting"] for each in self.fits(name) if each["status"] == "done"]
        return list({_key(each): each for each in done}.values())

    def seconds(self, name, setting):
        """Best time of a setting, infinite if it never ended."""
        return min((each.get("seconds", math.inf) for each in self.records(name, setting)), default=math.inf)

    def auc(self, name, setting):
        """Median AUC of the fits with that setting: threads make some of them differ."""
        found = [each["auc"] for each in self.records(name, setting) if each["status"] == "done"]
        return median(found) if found else None

    def best_penalty(self, name):
        """The searched setting that ranks best at the budget of the search; None if none ended."""
        contender = self.contenders[name]
        found = {
            number: self.auc(name, {**each, **contender.compared_at})
            for number, each in enumerate(contender.searched(self.rows))
        }
        found = {number: auc for number, auc in found.items() if auc is not None}
        return max(found, key=found.get) if found else None

    def rungs(self, name):
        """Settings of the ladder, cheap ones first."""
        best = self.best_penalty(name)
        if best is None:
            return []
        penalty = self.contenders[name].searched(self.rows)[best]
        return [{**penalty, **rung} for rung in self.contenders[name].ladder]

    def best_linear(self):
        """(AUC, name) of the best linear ranker of all."""
        found = [
            (self.auc(name, each), name)
            for name, contender in self.contenders.items()
            if contender.linear
            for each in self.tried(name)
        ]
        return max(found, default=(-math.inf, ""))

    def common_auc(self):
        return self.best_linear()[0] - self.within

    def curve(self, name):
        """(seconds, AUC) of the ladder, cheap rungs first."""
        climbed = [each for each in self.rungs(name) if self.auc(name, each) is not None]
        return [(self.seconds(name, each), self.auc(name, each)) for each in climbed]

    def cheapest(self, name):
        """The setting that got to the common AUC in the shortest time; None if none got there."""
        goal = self.common_auc()
        there = [each for each in self.tried(name) if self.auc(name, each) >= goal]
        return min(there, key=lambda each: self.seconds(name, each), default=None)


def described(record):
    """A line for those who watch."""
    setting = ", ".join(f"{name}={value}" for name, value in (record["setting"] or {}).items()) or "nothing set"
    head = f"  {record['contender']:18} {setting:55}"
    if record["status"] == "done":
        return f"{head} {record['seconds']:8.2f} s  AUC {record['auc']:.5f}  {record['megabytes']:6.0f} MB"
    if record["status"] == "remark":
        return f"  {record['contender']:18} {record['remarks']}"
    return (
        f"{head} {'more than ' + format(record['limit'], 'g') + ' s' if 'limit' in record else record['why']}"
    )


def _key(setting):
    return json.dumps(setting, sort_keys=True)
