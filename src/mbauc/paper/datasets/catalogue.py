"""The 15 benchmark sets and three click logs of the paper's Table I, and the split of its author's demo.

A checksum of a file of LIBSVM or UCI stands here as the official one if another project recorded it. Contents
that were seen, but of which no such record was found, stand under ``copies``: a download is not refused on the
word of one copy.
"""

from __future__ import annotations

from typing import Any

from mbauc.paper.datasets.entry import Entry, File, Printed

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
_UCI = "https://archive.ics.uci.edu"
_DIGITS = "The positive class is the digits 2, 7 and 9: the only three that give the printed ratio."
_FOLDED = (
    "1,000,000 columns, folded to 10,000 by mbauc.readers.hashing.fold_columns; how the paper got 10,000 is "
    "not recorded."
)


def _libsvm(
    name: str,
    checksum: str | None = None,
    *,
    endings: tuple[str, ...] = ("",),
    page: str = "binary",
    **more: Any,
) -> File:
    return File(name, tuple(f"{_LIBSVM}/{page}/{name}{ending}" for ending in endings), checksum, **more)


def _from_libsvm(name: str, anchor: str, *figures: Any, page: str = "binary", **more: Any) -> Entry:
    more = {"group": "benchmark", "source": f"{_LIBSVM}/{page}.html#{anchor}", **more}
    return Entry(name, more.pop("group"), *figures, **more)


ENTRIES = (
    _from_libsvm(
        "a1a",
        "a1a",
        (_libsvm("a1a", "sha256:eb54c45f1bdb51286f803dd092eb8202b44637a858fc6c4e533a2d64a0d94b4e"),),
        (1_605, 30_956),
        123,
        395,
        Printed((1_600, 30_900), 123, 3.06),
        (_libsvm("a1a.t", "sha256:0212d0c4a3996fe6fb6a0ab54033d9f4fa4b60369b6e3bb141821d9ffc40c04d"),),
    ),
    _from_libsvm(
        "a9a",
        "a9a",
        (_libsvm("a9a", "sha256:f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906"),),
        (32_561, 16_281),
        123,
        7_841,
        Printed((32_500, 16_200), 123, 3.15),
        (_libsvm("a9a.t", "sha256:1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9"),),
    ),
    Entry(
        "amazon",
        "benchmark",
        (
            File(
                "amazon+commerce+reviews+set.zip",
                (f"{_UCI}/static/public/215/amazon+commerce+reviews+set.zip",),
                copies=("sha256:fd757a3517a850e5af8136c343fde492dd80f02af1e3c8e995b6da1154324aa5",),
                members=("Amazon_initial_50_30_10000.arff",),
                hint="UCI packs the table as a RAR archive inside a zip archive: unpack both and put "
                "Amazon_initial_50_30_10000.arff into the folder.",
            ),
        ),
        (750, 750),
        10_000,
        450,
        Printed((750, 750), 10_000, 2.33),
        positive=15,
        format="arff",
        source=f"{_UCI}/dataset/215/amazon+commerce+reviews+set",
        notes=(
            "15 of the 50 authors are positive; which ones the paper took is not recorded: here the first 15 "
            "in sorted order.",
        ),
    ),
    Entry(
        "bank",
        "benchmark",
        (
            File(
                "bank-additional.zip",
                (
                    f"{_UCI}/ml/machine-learning-databases/00222/bank-additional.zip",
                    f"{_UCI}/static/public/222/bank+marketing.zip",
                ),
                "sha256:74adfc578bf77a7ff4bb1ba4a9f8709d9e3c6907342959c2c8416847e0afb4d8",
                members=("bank-additional/bank-additional-full.csv",),
            ),
        ),
        (20_594, 20_594),
        63,
        4_640,
        Printed((20_600, 20_600), 100, 7.88),
        positive=("yes",),
        format="csv",
        aliases=("bank-additional",),
        source=f"{_UCI}/dataset/222/bank+marketing",
        notes=(
            "The paper has 100 columns and does not say how they are made; numbers and one-hot categories make "
            "63.",
        ),
    ),
    _from_libsvm(
        "codrna",
        "cod-rna",
        (_libsvm("cod-rna", "md5:cd14eab76f391e288e6e8e592ae658dd"),),
        (29_767, 29_768),
        8,
        19_845,
        Printed((29_800, 29_800), 8, 2.00),
        notes=("LIBSVM's cod-rna.t is not used: 29.8K / 29.8K rows are the halves of cod-rna.",),
    ),
    _from_libsvm(
        "german",
        "german.numer",
        (
            _libsvm(
                "german.numer",
                copies=("sha256:69ffe0c4ba0bd91f936986d7c070dfca7e22064bbd5ab8e1fb925d6c86024ec8",),
            ),
        ),
        (500, 500),
        24,
        300,
        Printed((500, 500), 24, 2.33),
        aliases=("german.numer",),
        notes=("Raw values; positive (+1) is bad credit.",),
    ),
    _from_libsvm(
        "ijcnn",
        "ijcnn1",
        (
            _libsvm(
                "ijcnn1",
                "sha256:16506cad788cf7c9607454150ed1994788204bac2ff4c9cb3b320036b6950d3f",
                endings=(".bz2",),
                # ijcnn1.tr and ijcnn1.val joined: the same rows, labels written -1.0 and 1.0
                copies=("sha256:7fe291672c3fefe6a7e3c51529becd23f0e985ba05ffb8d53c9c648c1e91cc19",),
            ),
        ),
        (49_990, 91_701),
        22,
        4_853,
        Printed((50_000, 92_000), 22, 9.30),
        (
            _libsvm(
                "ijcnn1.t",
                "sha256:e7b0bbd518641980dc322746c6bc59d019d3153934e6258e48f9d8cfae2c4bb8",
                endings=(".bz2",),
            ),
        ),
        aliases=("ijcnn1",),
    ),
    _from_libsvm(
        "madelon",
        "madelon",
        (
            _libsvm(
                "madelon",
                # rebuilt from the files of the NIPS 2003 challenge
                copies=("sha256:34f9d790481f42d468c4a59515e6c7bb1dcfa5b0c5339e584b998db13f2d6464",),
            ),
        ),
        (2_000, 600),
        500,
        1_000,
        Printed((2_000, 600), 500, 1.00),
        (
            _libsvm(
                "madelon.t", copies=("sha256:ae60251b63a46c6ace348b77749e79e25d4098d629d1dead2852c3d4daf1f8ea",)
            ),
        ),
    ),
    _from_libsvm(
        "mnist",
        "mnist",
        (_libsvm("mnist", endings=(".bz2",), page="multiclass"),),
        (60_000, 10_000),
        780,
        18_172,
        Printed((60_000, 10_000), 780, 2.30),
        (_libsvm("mnist.t", endings=(".bz2",), page="multiclass"),),
        page="multiclass",
        positive=(2, 7, 9),
        notes=(_DIGITS,),
    ),
    _from_libsvm(
        "mushrooms",
        "mushrooms",
        (_libsvm("mushrooms", "sha256:f39a4eb628dc61a7d43760815b061c9e497aa728ce1ad8bde57a09ef6043b538"),),
        (4_062, 4_062),
        112,
        4_208,
        Printed((4_000, 4_000), 112, 0.93),
        positive=(2,),
    ),
    _from_libsvm(
        "phishing",
        "phishing",
        (_libsvm("phishing"),),
        (5_527, 5_528),
        68,
        6_157,
        Printed((5_500, 5_500), 68, 0.79),
        notes=(
            "Positive (1) is the larger class, the one that gives the printed ratio (0.7955, cut off there).",
        ),
    ),
    _from_libsvm(
        "svmguide3",
        "svmguide3",
        (
            _libsvm(
                "svmguide3",
                copies=(
                    # both files joined; the first alone
                    "sha256:6a06c275b8135204d47d8a9527d4cba6c18ed04335d38b45be40d147b154ae02",
                    "sha256:ada17021fdf508bcaac7b7adea825886478f915935eccb24470f22c806dc4508",
                ),
            ),
            _libsvm(
                "svmguide3.t",
                copies=("sha256:cee704e709725edbb8d200f5973e3bae83691aea1e15dbba121d6d8629110cd5",),
                optional=True,
            ),
        ),
        (642, 642),
        21,
        337,
        Printed((642, 642), 21, 2.80),
        width=22,
        notes=(
            "Training and test files are joined and halved. All 41 rows of LIBSVM's test file are positive.",
            "Column 22 is always zero and left out.",
        ),
    ),
    _from_libsvm(
        "usps",
        "usps",
        (
            _libsvm(
                "usps",
                endings=(".bz2",),
                page="multiclass",
                # rebuilt from another copy of the same images, rounded to 6 digits
                copies=("sha256:4a8df5b007d276e58d17522e88aa9f420a4d19757eaf8f450182ae181a70cc3b",),
            ),
        ),
        (7_291, 2_007),
        256,
        2_020,
        Printed((7_200, 2_000), 256, 2.61),
        (
            _libsvm(
                "usps.t",
                endings=(".bz2",),
                page="multiclass",
                copies=("sha256:51b73e708c82aba0174db194af8cef0a4d2154c4afe76df0853dd594c5a7ed87",),
            ),
        ),
        page="multiclass",
        positive=(3, 8, 10),
        notes=(_DIGITS, "LIBSVM's labels are digit + 1."),
    ),
    _from_libsvm(
        "w1a",
        "w1a",
        (_libsvm("w1a", "sha256:0ae2b1c40f6a99061d1c6f4a1f3b50eea58a2f3b8bf851a337c25c2a65a49d32"),),
        (2_477, 47_272),
        300,
        72,
        Printed((2_500, 47_200), 300, 33.40),
        (
            _libsvm(
                "w1a.t",
                "sha256:c5e489a499286d69c8c2035cb04bc48e2ea1f73e56153c72cc50b29732a9316a",
                # the same lines, ended by CR LF
                copies=("sha256:84fe9fc52fc76712ac42385dc2b6d6c8999897d931228cb9b464bd1581ff4458",),
            ),
        ),
    ),
    _from_libsvm(
        "w7a",
        "w7a",
        (_libsvm("w7a", "md5:be1685637ca070887c23eb598dcb26b5"),),
        (24_692, 25_057),
        300,
        None,
        Printed((25_000, 25_000), 300, 32.40),
        (_libsvm("w7a.t", "md5:99e242af7bc0d71abb2e934756a13be6"),),
    ),
    _from_libsvm(
        "avazu app",
        "avazu",
        (_libsvm("avazu-app.tr", endings=(".bz2", ".xz")),),
        (12_642_186, 1_953_951),
        10_000,
        None,
        Printed((12_600_000, 2_000_000), 10_000, 8.33),
        (_libsvm("avazu-app.val", endings=(".bz2", ".xz")),),
        group="clicks",
        width=1_000_000,
        folded=True,
        notes=(_FOLDED, "The .t file has no public labels: the test set is .val."),
    ),
    _from_libsvm(
        "avazu site",
        "avazu",
        (_libsvm("avazu-site.tr", endings=(".bz2", ".xz")),),
        (23_567_843, 2_264_987),
        10_000,
        None,
        Printed((23_600_000, 2_600_000), 10_000, 4.06),
        (_libsvm("avazu-site.val", endings=(".bz2", ".xz")),),
        group="clicks",
        width=1_000_000,
        folded=True,
        notes=(
            _FOLDED,
            "The .t file has no public labels: the test set is .val; the paper says 2.6M test rows.",
        ),
    ),
    _from_libsvm(
        "criteo",
        "criteo",
        (
            _libsvm(
                "criteo.kaggle2014.svm.tar.xz",
                members=("criteo.kaggle2014.svm/train.txt.svm", "criteo.kaggle2014.train.svm"),
                hint="Unpack it in that folder with 'tar -xf criteo.kaggle2014.svm.tar.xz': about 30 GB.",
            ),
        ),
        (39_798_482, 6_042_135),
        10_000,
        None,
        Printed((45_800_000, 6_000_000), 10_000, 2.92),
        group="clicks",
        width=1_000_000,
        folded=True,
        held_out=6_042_135,
        notes=(
            _FOLDED,
            "The 6,042,135 test rows have no public labels: as many rows at the end of the 45,840,617 training "
            "rows, which are in order of time, are held out instead.",
        ),
    ),
    Entry(
        "svmguide3.author",
        "extra",
        (
            File(
                "svmguide3.author.train",
                checksum="sha256:789ba705fdd476cc1f681a1626020c430c45f036d3621a45bdd440d2f30576a5",
            ),
        ),
        (642, 642),
        21,
        168,
        None,
        (
            File(
                "svmguide3.author.test",
                checksum="sha256:68a1a1efa59551035fa7401abbe00cf2c14a6521d7764cbb77978393415406d2",
            ),
        ),
        zero_based=True,
        source=f"{_LIBSVM}/binary.html#svmguide3",
        notes=(
            "The split of the demo of the paper's author, columns divided by their largest absolute value.",
        ),
    ),
)
