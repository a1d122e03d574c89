"""Free texts: which columns are, and what their words become."""

import math
import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mbauc.readers import TableEncoding, TableSource, learn_table_codes
from mbauc.readers.table.columns.code_guess import guess_code, guess_frame_code
from mbauc.readers.table.columns.guess import guess
from mbauc.readers.table.columns.values import read_texts
from mbauc.readers.table.columns.words import split_words
from mbauc.readers.table.encoding import word_learner
from mbauc.readers.table.encoding.word_codes import make_word_columns, write_words
from mbauc.readers.table.encoding.word_learner import WordLearner

pa = pytest.importorskip("pyarrow", reason="pyarrow is an optional dependency")
pd = pytest.importorskip("pandas", reason="pandas is an optional dependency")

RNG = np.random.default_rng(0)
N = 1_000
FIRST = ["Ann", "Bob", "Eve", "Mary", "John", "Paul", "Rosa", "Tim", "Uma", "Lea", "Max", "Ida"]
LAST = [a + b for a in ("Smi", "Bro", "Mil", "Wal", "Schu", "Gar") for b in ("th", "wn", "ler", "ker", "cia")]
NOUNS = ["refund", "order", "parcel", "invoice", "password", "account", "card", "delivery", "shoes", "lamp"]
VERBS = ["send", "cancel", "change", "return", "explain", "check", "pay", "close"]


def pick(values, size=N):
    return RNG.choice(np.array(list(values), dtype=object), size)


def messages(size=N):
    openings = ["", "hello, ", "please ", "good morning! could you "]
    endings = ["", " today", " as soon as you can", ", thank you"]
    parts = (openings, VERBS, [" my ", " the "], NOUNS, endings, [f" {k}" for k in range(40)])
    return ["".join(row) for row in zip(*(pick(part, size) for part in parts), strict=True)]


MERCHANTS = [
    f"{a} {b}{c} {d}"
    for a, b, c, d in zip(
        pick(["POS", "CARD PURCHASE", "ONLINE PAYMENT TO"]),
        pick(["STARBUCKS", "AMAZON MARKETPLACE", "SHELL OIL", "UBER TRIP"]),
        pick(["", " SEATTLE WA", " LONDON", " HELP.UBER.COM"]),
        RNG.integers(0, 10**5, N),
        strict=True,
    )
]
STREETS = [
    f"{k} {a}{b}"
    for k, a, b in zip(
        RNG.integers(1, 900, N), pick(LAST), pick([" Street", " Road", " Park Avenue East", ""]), strict=True
    )
]
TITANIC = [
    f"{b}, {c} {a}{d}"
    for a, b, c, d in zip(
        pick(FIRST),
        pick(LAST),
        pick(["Mr.", "Mrs.", "Miss."]),
        pick(["", " Harris", " of the Isles"]),
        strict=True,
    )
]
TEXTS = {
    "messages": messages(),
    "merchants": MERCHANTS,
    "with missing ones": [text if k % 3 else None for k, text in enumerate(messages())],
    "accents and other scripts": [
        text.replace("order", "заказ").replace("lamp", "lámpara") for text in messages()
    ],
    "names with titles, of several lengths": [f"{name} {k}" for k, name in enumerate(TITANIC)],
}
OTHERS = {
    "names": [f"{a} {b}" for a, b in zip(pick(FIRST), pick(LAST), strict=True)],
    "names with initials": [
        f"{a} {m} {b}" for a, m, b in zip(pick(FIRST), pick("ABCDEFGH"), pick(LAST), strict=True)
    ],
    "distinct names": [
        f"{a} {b}{k:c}" for k, (a, b) in enumerate(zip(pick(FIRST), pick(LAST), strict=True), 97)
    ],
    "cities": pick(["New York", "San Francisco", "Paris", "Rio de Janeiro", "Berlin", "Los Angeles"]),
    "cities with states": [f"{a}ville {b}" for a, b in zip(pick(LAST), pick(["NY", "CA", "TX"]), strict=True)],
    "streets": STREETS,
    "German streets": [f"{a}straße {k}" for a, k in zip(pick(LAST), RNG.integers(1, 300, N), strict=True)],
    "mail addresses": [f"{a}.{b}@example.com" for a, b in zip(pick(FIRST), pick(LAST), strict=True)],
    "links": [f"https://example.com/{a}/{k}" for k, a in enumerate(pick(NOUNS))],
    "codes": [f"AB{k:05} X{k % 7}" for k in range(N)],
    "codes of words": [f"{a}-{b}-{k}" for k, (a, b) in enumerate(zip(pick(NOUNS), pick(VERBS), strict=True))],
    "hashes": [f"{k:016x}" for k in RNG.integers(0, 2**60, N)],
    "few levels": pick(messages(40)),
    "levels of words": pick(
        [f"{a} and {b}{c}" for a, b, c in zip(LAST, FIRST * 3, ["", " too", " or so"] * 10, strict=False)]
    ),
    "dates": [f"{1 + k % 28} March {1990 + k % 30}" for k in range(N)],
    "spoken dates": [f"Monday, {1 + k % 28} March {1990 + k % 30}" for k in range(N)],
    "words": pick(NOUNS),
    "too few rows": messages(40),
    "no word twice": [
        " ".join(f"{chr(97 + j)}{k:c}x" for j in range(2 + k % 4)) for k in range(0x4E00, 0x4E00 + N)
    ],
}


@pytest.mark.parametrize("name", TEXTS)
def test_free_texts_are_found(name):
    values = pa.array(TEXTS[name], pa.string())
    for judge in (guess_code, guess_frame_code):
        assert judge("x", values).kind == "text"
    # where words have no columns it is as before
    assert guess("x", values).kind in ("id", "category")


@pytest.mark.parametrize("name", OTHERS)
def test_other_texts_are_not(name):
    values = pa.array(list(OTHERS[name]), pa.string())
    for judge in (guess_code, guess_frame_code):
        assert judge("x", values) == guess("x", values)


def test_dictionaries_and_indices_are_no_free_texts():
    values = pa.array(TEXTS["messages"])
    assert guess_frame_code("x", values.dictionary_encode()).kind == "category"
    assert guess_code("Unnamed: 0", values).kind != "text"


# -- twins in plain Python ----------------------------------------------------------------------------------


def slow_words(text):
    """Letter by letter."""
    found, word = [], ""
    for letter in unicodedata.normalize("NFC", text).lower():
        if letter.isalnum():
            word += letter
        else:
            found, word = [*found, word] if word else found, ""
    return [*found, word] if word else found


def slow_row(text, words):
    if not text:
        return [math.nan] * (len(words) + 1)
    found = slow_words(text)
    return [*(float(word in found) for word in words), float(len(found))]


def slow_choice(texts, most):
    rows = Counter(word for text in texts if text for word in set(slow_words(text)))
    present = sum(bool(text) for text in texts)
    often = [word for word in rows if 10 <= rows[word] <= 0.9 * present]
    return sorted(often, key=lambda word: (-rows[word], word))[:most]


SPELLED = st.sampled_from(
    ["Refund", "refund", "the", "a", "Straße", "ΟΔΟΣ", "12", "x_1", "naïve", "東京", "-", "!?"]
)
FREE_TEXTS = st.one_of(
    st.none(), st.just(""), st.just("  "), st.text(max_size=20), st.lists(SPELLED, max_size=6).map(" ".join)
)


@given(st.text())
def test_words_letter_by_letter(text):
    assert split_words(text) == slow_words(text)


@pytest.mark.parametrize("text", ["Café crème", "naïve Größe", "가격"])
def test_words_do_not_depend_on_how_accents_are_spelled(text):
    composed, apart = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert composed != apart
    assert split_words(composed) == split_words(apart) == composed.lower().split()


@given(st.lists(FREE_TEXTS, min_size=1, max_size=30), st.sets(SPELLED.map(str.lower)))
def test_columns_of_words_row_by_row(texts, words):
    words = sorted(word for word in words if split_words(word) == [word])
    columns = make_word_columns("t", words)
    out = np.empty((len(texts), len(columns)), order="F")
    write_words(columns, read_texts(pa.array(texts, pa.string()), "text"), out)
    np.testing.assert_array_equal(out, [slow_row(text, words) for text in texts])


@given(st.lists(FREE_TEXTS, min_size=1, max_size=15), st.integers(1, 25), st.integers(1, 300))
def test_choice_of_words_whatever_the_blocks(texts, times, cut):
    texts = texts * times
    learner = WordLearner()
    for start in range(0, len(texts), cut):
        learner.update(read_texts(pa.array(texts[start : start + cut], pa.string()), "text"))
    assert learner.words() == slow_choice(texts, 100)


def test_a_sample_of_many_rows_does_not_depend_on_blocks(monkeypatch):
    texts = messages(5_000)
    whole = slow_choice(texts, 100)
    monkeypatch.setattr(word_learner, "_ROWS", 700)
    found = []
    for cut in (5_000, 1_024, 77):
        learner = WordLearner()
        for start in range(0, len(texts), cut):
            learner.update(read_texts(pa.array(texts[start : start + cut]), "text"))
        found.append(learner.words())
    assert found[0] == found[1] == found[2]
    assert set(found[0]) <= set(slow_choice(texts, None))
    assert found[0][:1] != []
    assert len(whole) >= len(found[0])
    monkeypatch.setattr(word_learner, "_BYTES", 2_000)
    learner.update(read_texts(pa.array(texts), "text"))
    assert learner.words() != found[0]


def test_at_most_a_hundred_words():
    texts = [f"{chr(0x4E00 + k % 300)} and more" for k in range(6_000)] + ["nothing"] * 700
    words = WordLearner()
    words.update(read_texts(pa.array(texts), "text"))
    assert len(words.words()) == 100
    assert words.words() == slow_choice(texts, 100)


# -- in tables ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table():
    text = messages()
    text[3], text[7], text[8] = None, "", "!!"
    y = [int("refund" in (one or "")) for one in text]
    return pd.DataFrame({"title": text, "x": RNG.normal(size=N), "y": y})


def test_files_and_frames_have_the_same_bits(tmp_path, table):
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    sources = [
        TableSource(rows, label="y", encode="codes", block_rows=block)
        for rows in (table, tmp_path / "t.csv", tmp_path / "t.parquet")
        for block in (64, 65_536)
    ]
    matrices = [np.vstack([block.X for block in source]) for source in sources]
    for source, matrix in zip(sources, matrices, strict=True):
        assert source.plan["title"].kind == "text"
        assert source.encoding.to_dict() == sources[0].encoding.to_dict()
        np.testing.assert_array_equal(matrix, matrices[0])
    np.testing.assert_array_equal(sources[0].encoding.transform(table), matrices[0])
    encoding = sources[0].encoding
    words = [code.word for code in encoding.code_columns if code.word]
    texts = [text if isinstance(text, str) else None for text in table["title"]]
    assert words == slow_choice(texts, 100)
    assert [*encoding.feature_names[-2:], len(encoding.feature_names)] == [
        "title word count",
        "x",
        len(words) + 2,
    ]
    np.testing.assert_array_equal(matrices[0][:, :-1], [slow_row(text, words) for text in texts])
    assert sources[0].plan["title"].becomes == f"{len(words)} words + number of words"


def test_to_json_and_back_and_unseen_words(table):
    encoding = learn_table_codes(table[["title", "x"]])
    told = encoding.to_dict()
    assert told["version"] == 3
    again = TableEncoding.from_dict(told)
    assert again.code_columns == encoding.code_columns
    new = pd.DataFrame({"title": ["zzz qqq", "REFUND zzz", "", None], "x": 0.0})
    X = again.transform(new)
    names = again.feature_names
    assert X[0, :-2].tolist() == [0.0] * (len(names) - 2)
    assert X[0, -2] == 2
    assert X[1, names.index('title has "refund"')] == 1
    assert X[1, :-2].sum() == 1
    assert np.isnan(X[2:, :-1]).all()


@pytest.mark.parametrize(
    "harm",
    [
        lambda codes: codes[0].update(word=codes[1]["word"]),
        lambda codes: codes[0].pop("word"),
        lambda codes: codes[0].pop("source"),
        lambda codes: codes[0].update(name=codes[1]["name"]),
        lambda codes: codes[-1].update(word="x"),
        lambda codes: codes.insert(0, codes.pop(-2)),
        lambda codes: codes[0].update(word=""),
        lambda codes: codes[0].update(hashed=10),
        lambda codes: codes.append(codes.pop(0)),
    ],
)
def test_words_that_do_not_fit_are_refused(table, harm):
    told = learn_table_codes(table[["title", "x"]]).to_dict()
    harm(told["codes"])
    with pytest.raises(ValueError, match="broken"):
        TableEncoding.from_dict(told)


def test_said_to_be_a_text_or_not(table):
    short = pd.DataFrame({"t": ["a b", "b", "c"] * 20, "y": [0, 1, 1] * 20})
    source = TableSource(short, label="y", encode="codes", types={"t": "text"})
    assert source.feature_names == ['t has "b"', 't has "a"', 't has "c"', "t word count"]
    source = TableSource(table, label="y", encode="codes", types={"title": "category"})
    assert source.feature_names == ["title", "x"]


def test_a_text_without_frequent_words_is_its_number_of_words():
    rows = {"t": ["one", "two words"], "y": [0, 1]}
    source = TableSource(rows, label="y", encode="codes", types={"t": "text"})
    assert source.feature_names == ["t word count"]
    assert source.plan["t"].becomes == "number of words"
    assert next(iter(source)).X.tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize("encode", ["hash", "onehot"])
def test_straight_lines_take_a_text_for_a_category(encode):
    rows = {"t": ["a b", "b", "c"] * 20, "y": [0, 1, 1] * 20}
    as_text = TableSource(rows, label="y", encode=encode, types={"t": "text"}, hash_dim=50)
    as_category = TableSource(rows, label="y", encode=encode, types={"t": "category"}, hash_dim=50)
    one, other = (next(iter(source)).X for source in (as_text, as_category))
    assert abs(one - other).max() == 0
    assert as_text.plan["t"].becomes.endswith(", as a category")
    assert as_text.encoding.to_dict()["version"] == 3
    told = TableEncoding.from_dict(as_text.encoding.to_dict())
    assert told.feature_names == as_text.feature_names


def test_names_of_words_and_of_columns_must_differ():
    rows = {"t": ["a b", "b", "c"] * 20, "t word count": [0.5] * 60, "y": [0, 1, 1] * 20}
    with pytest.raises(ValueError, match="'t word count', but there is another column of that name"):
        TableSource(rows, label="y", encode="codes", types={"t": "text"})
