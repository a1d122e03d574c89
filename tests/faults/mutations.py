"""Files with something changed in them and checksums that fit again, as a forger or odd program writes them."""

import json
import struct
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import forged_files as forged

#: Values that programs trip over.
ODD = [
    *(None, True, False, 0, -1, 1, 2, 7, 1.5, -0.0, 1e308, -1e308, 5e-324),
    *(2**31, 2**53 + 1, 2**63, 2**64, -(2**63), 10**400),
    *("", "x", "auto", "1", "nan", "\x1b[31mred\u202e", "x" * 5000, "\ud800", "a\nb"),
    *([], [[]], {}, [1, "a"], {"a": 1}, [0] * 500, {"name": ["x"]}),
]
NUMBERS = [0.0, -1.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1e-300, 2.0**53, 1e18, 0.5, -0.0]
TYPES = ["<f8", "<i8", "<f4", "<u4", "|b1", "<U1", "<U7", "|O", "<f16", "<c16", ">f8", "V8", "<M8[s]", 7, None]


def places(value, way=()):
    """All places in a JSON value."""
    yield way
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*way, name))
    elif isinstance(value, list):
        for place in range(len(value)):
            yield from places(value[place], (*way, place))


def changed_json(rng, value):
    """A JSON value with one place changed, dropped, doubled, moved or renamed."""
    value = json.loads(json.dumps(value))
    ways = list(places(value))[1:] or [()]
    way = ways[rng.integers(len(ways))]
    if not way:
        return ODD[rng.integers(len(ODD))]
    inner = value
    for key in way[:-1]:
        inner = inner[key]
    last = way[-1]
    match rng.integers(6):
        case 0 | 1 | 2:
            inner[last] = ODD[rng.integers(len(ODD))]
        case 3:
            del inner[last]
        case 4:
            other = value
            for key in ways[rng.integers(len(ways))]:
                other = other[key]
            inner[last] = json.loads(json.dumps(other))
        case _ if isinstance(inner, dict):
            inner[str(ODD[rng.integers(len(ODD))])[:60]] = inner.pop(last)
        case _:
            inner.append(inner[last])
    return value


def changed_array(rng, array):
    """An array with other numbers, of another type or of another shape."""
    array = np.array(array)
    match rng.integers(5):
        case 0 | 1 if array.dtype.kind in "iuf" and array.size:
            with np.errstate(all="ignore"):
                number = np.array(NUMBERS[rng.integers(len(NUMBERS))])
                if array.dtype.kind != "f":
                    info = np.iinfo(array.dtype)
                    number = rng.choice(
                        np.array([info.min, info.max, 0, 1, 17, info.max // 2], dtype=array.dtype)
                    )
                flat = array.reshape(-1)
                flat[rng.integers(array.size, size=max(1, array.size // int(rng.integers(1, 50))))] = number
            return array
        case 2:
            kind = rng.choice(["<f8", "<i8", "<f4", "<u4", "|b1", "<U5"])
            with np.errstate(all="ignore"):
                try:
                    return array.astype(kind)
                except ValueError:
                    return np.zeros(array.shape, dtype=kind)
        case 3:
            shape = [int(size) for size in array.shape]
            shape = (
                shape[:-1]
                if shape and rng.random() < 0.3
                else [max(0, n + int(rng.integers(-2, 3))) for n in shape]
            )
            return np.zeros(shape if rng.random() < 0.8 else [*shape, 1], dtype=array.dtype)
        case _ if array.dtype.kind == "U":
            return np.array(
                str(
                    rng.choice(
                        ["", "-1", "9" * 39, "9" * 400, "1.5", "x", "١٢", " 1", "1_0", "[[[[", "{}", "null"]
                    )
                )
            )
        case _:
            return array * 0 if array.dtype.kind in "iuf" else ~array if array.dtype.kind == "b" else array


# -- bodies and files ----------------------------------------------------------------------------------------


def changed_body(rng, content, start):
    """A body with something changed: what it says, its arrays, their description, or any bytes."""
    text, arrays = forged.parse_body(content, start)
    names = list(arrays)
    match rng.integers(8):
        case 0 | 1 | 2:
            told = {name: value for name, value in text.items() if name != "arrays"}
            return forged.make_body(as_dict(changed_json(rng, told)), arrays, start=start)
        case 3 | 4 if names:
            name = names[rng.integers(len(names))]
            return forged.make_body(text, arrays | {name: changed_array(rng, arrays[name])}, start=start)
        case 5 if names:
            match rng.integers(3):
                case 0:
                    arrays.pop(names[rng.integers(len(names))])
                case 1:
                    arrays[str(ODD[rng.integers(len(ODD))])[:50]] = np.ones(3)
                case _:
                    one, two = rng.choice(names, 2)
                    arrays[one], arrays[two] = arrays[two], arrays[one]
            return forged.make_body(text, arrays, start=start)
        case 6:

            def spoil(text):
                told = json.loads(text)
                if told["arrays"] and rng.random() < 0.7:
                    entry = told["arrays"][rng.integers(len(told["arrays"]))]
                    entry["dtype"] = TYPES[rng.integers(len(TYPES))] if rng.random() < 0.5 else entry["dtype"]
                    if rng.random() < 0.5:
                        entry["shape"] = [
                            int(rng.choice([0, 1, 2**20, 2**31, 2**60])) for _ in range(rng.integers(3))
                        ]
                    return json.dumps(told).encode()
                return json.dumps(changed_json(rng, told)).encode()

            return forged.make_body(text, arrays, spoil, start)
        case _:
            spoilt = bytearray(content)
            for _ in range(rng.integers(1, 4)):
                spoilt[rng.integers(len(spoilt) if rng.random() < 0.5 else min(len(spoilt), 600))] = (
                    rng.integers(256)
                )
            return bytes(spoilt)


def as_dict(value):
    return value if isinstance(value, dict) else {"kind": value}


def container(rng, content):
    """A model, moments or a state of a checkpoint."""
    return forged.seal(changed_body(rng, content[24:], forged.HEAD))


def journal(rng, content):
    """A cache of rows, finished or not: header, rows, blocks, or the sums at the end."""
    head, bodies = forged.split_journal(content)
    number = rng.integers(len(bodies))
    match rng.integers(8):
        case 0:
            head = changed_body(rng, head, forged.HEAD)
        case 1 | 2 | 3:
            bodies[number] = changed_body(rng, bodies[number], forged.RECORD)
        case 4 | 5:
            bodies[number] = changed_numbers(rng, bodies[number])
        case 6 if len(bodies) > 2:
            other = rng.integers(len(bodies))
            bodies[number], bodies[other] = bodies[other], bodies[number]
        case _:
            del bodies[number]
    if bodies and rng.random() < 0.9:
        bodies[-1] = told_places(bodies[-1], len(bodies) - 1, len(forged.join_journal(head, bodies[:-1])))
    made = forged.join_journal(head, bodies)
    return made[: rng.integers(len(made))] if rng.random() < 0.05 else made


def changed_numbers(rng, body):
    """A body with four bytes of its arrays changed, if it has any."""
    text, arrays = forged.split_body(body, forged.RECORD)
    if not arrays:
        return body
    spoilt, at = bytearray(arrays), int(rng.integers(len(arrays) // 4)) * 4
    spoilt[at : at + 4] = rng.choice(
        [b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\0\0\x80", b"\0\0\xf8\x7f", rng.bytes(4)]
    )
    return forged.join_body(text, bytes(spoilt), forged.RECORD)


def told_places(body, count, end):
    """The last record of a cache; if it closes the file, with the number of records and bytes before it."""
    try:
        text, arrays = forged.split_body(body, forged.RECORD)
        if text["kind"] != "end":
            return body
        text["about"] |= {"records": count, "bytes": end}
        return forged.join_body(text, arrays, forged.RECORD)
    except (ValueError, KeyError, TypeError, IndexError, struct.error):
        return body


KINDS = {"model": container, "moments": container, "state": container, "cache": journal}
