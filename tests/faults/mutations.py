"""Files with something changed in them and checksums that fit again, as a forger or odd program writes them."""

import io
import json
import struct
import zipfile
import zlib

import numpy as np

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


# -- a JSON text and arrays --------------------------------------------------------------------------------


def padded(size):
    return -(-size // 64) * 64


def parted(content):
    """The description and the arrays of plain content."""
    (size,) = struct.unpack_from("<Q", content)
    told = json.loads(content[8 : 8 + size])
    arrays = {}
    for entry in told["arrays"]:
        dtype = np.dtype(entry["dtype"])
        count = int(np.prod(entry["shape"], dtype=np.int64))
        arrays[entry["name"]] = np.frombuffer(content, dtype, count, entry["at"]).reshape(entry["shape"])
    return told["about"], arrays


def joined(about, arrays, change=lambda described: described):
    """The same as bytes; ``change`` may spoil the description of the arrays, once places are settled."""
    held = {name: np.asarray(array) for name, array in arrays.items()}
    listed, at = [], [0] * len(held)
    text = b""
    for _ in range(5):
        listed = [
            {"name": name, "dtype": array.dtype.str, "shape": list(array.shape), "at": place}
            for (name, array), place in zip(held.items(), at, strict=True)
        ]
        text = json.dumps({"about": about, "arrays": listed}).encode()
        end, at = padded(8 + len(text)), []
        for array in held.values():
            at.append(end)
            end += padded(array.nbytes)
    text = change(text)
    body = struct.pack("<Q", len(text)) + text
    body = body.ljust(padded(len(body)), b"\0")
    for array in held.values():
        body += array.tobytes().ljust(padded(array.nbytes), b"\0")
    return body


def changed_plain(rng, content):
    """Plain content with something changed."""
    about, arrays = parted(content)
    names = list(arrays)
    match rng.integers(8):
        case 0 | 1 | 2:
            return joined(changed_json(rng, about), arrays)
        case 3 | 4 if names:
            name = names[rng.integers(len(names))]
            return joined(about, arrays | {name: changed_array(rng, arrays[name])})
        case 5 if names:
            match rng.integers(3):
                case 0:
                    arrays.pop(names[rng.integers(len(names))])
                case 1:
                    arrays[str(ODD[rng.integers(len(ODD))])[:50]] = np.ones(3)
                case _:
                    one, two = rng.choice(names, 2)
                    arrays[one], arrays[two] = arrays[two], arrays[one]
            return joined(about, arrays)
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

            return joined(about, arrays, spoil)
        case _:
            spoilt = bytearray(joined(about, arrays))
            for _ in range(rng.integers(1, 4)):
                spoilt[rng.integers(len(spoilt) if rng.random() < 0.5 else min(len(spoilt), 600))] = (
                    rng.integers(256)
                )
            return bytes(spoilt)


# -- the kinds of files ----------------------------------------------------------------------------------------


def model(rng, content):
    """A model file."""
    body = changed_plain(rng, content[24:])
    head = struct.pack("<IQ", 1, len(body))
    return content[:8] + struct.pack("<I", zlib.crc32(body, zlib.crc32(head))) + head + body


def state(rng, content):
    """A state of a checkpoint."""
    body = changed_plain(rng, content[16:])
    return content[:12] + struct.pack("<I", zlib.crc32(body)) + body


def moments(rng, content):
    """A file of moments: its arrays, their heads, or the directory of the archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    names = list(members)
    name = names[rng.integers(len(names))]
    if rng.random() < 0.2:
        spoilt = bytearray(content)
        first = content.index(b"PK\x01\x02") if rng.random() < 0.7 else 0
        for _ in range(rng.integers(1, 5)):
            spoilt[rng.integers(first, len(spoilt))] = rng.integers(256)
        return bytes(spoilt)
    if rng.random() < 0.5:
        array = changed_array(rng, np.load(io.BytesIO(members[name])))
        stream = io.BytesIO()
        np.save(stream, array)
        members[name] = stream.getvalue()
    else:
        spoilt = bytearray(members[name])
        for _ in range(rng.integers(1, 4)):
            spoilt[rng.integers(min(len(spoilt), 128))] = rng.choice(
                list(b"[]{}(),'0123456789<>|fiubOUVL \n\\\x00\xff")
            )
        members[name] = bytes(spoilt)
    stream = io.BytesIO()
    with zipfile.ZipFile(
        stream, "w", zipfile.ZIP_DEFLATED if rng.random() < 0.05 else zipfile.ZIP_STORED
    ) as archive:
        for one, bytes_of in members.items():
            if rng.random() > 0.01:
                archive.writestr(one, bytes_of)
    return stream.getvalue()


def cache(rng, content):
    """A cache of rows, finished or not: header, fields of a record, rows, or the sums at the end."""
    _, version, _, length = struct.unpack_from("<8sIIQ", content)
    header, place, records = content[24 : 24 + length], 24 + length, []
    while place + 64 <= len(content):
        kind, _, size = struct.unpack_from("<4sIQ", content, place)
        records.append(
            [
                kind,
                bytearray(content[place + 16 : place + 64]),
                bytearray(content[place + 64 : place + 64 + size]),
            ]
        )
        place += 64 + size
    number = rng.integers(len(records))
    kind, fields, payload = records[number]
    match rng.integers(7):
        case 0:
            header = json.dumps(changed_json(rng, json.loads(header))).encode()
        case 1 | 2 if kind != b"DONE":
            fields[rng.integers(20)] = rng.choice([0, 1, 2, 4, 8, 255, int(rng.integers(256))])
        case 3 | 4 if payload and kind == b"ROWS":
            at = int(rng.integers(len(payload) // 4)) * 4
            payload[at : at + 4] = rng.choice(
                [b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\0\0\x80", b"\0\0\xf8\x7f", rng.bytes(4)]
            )
        case 5 if kind == b"ROWS":
            del payload[int(rng.integers(len(payload) + 1)) :]
        case 6 if len(records) > 2:
            other = rng.integers(len(records))
            records[number], records[other] = records[other], records[number]
        case _ if records[-1][0] == b"DONE":
            records[-1][2] = bytearray(changed_plain(rng, bytes(records[-1][2])))
        case _:
            del records[number]
    text = bytes(header)
    made = struct.pack(
        "<8sII", b"MBAUCROW", version, zlib.crc32(text, zlib.crc32(struct.pack("<Q", len(text))))
    )
    made += struct.pack("<Q", len(text)) + text
    count = len(records) - 1
    for kind, fields, payload in records:
        if kind == b"DONE" and rng.random() < 0.9:
            payload = told_places(bytes(payload), count, len(made))
        rest = struct.pack("<Q", len(payload)) + bytes(fields) + bytes(payload)
        made += kind + struct.pack("<I", zlib.crc32(rest)) + rest
    return made


def told_places(payload, count, end):
    """The closing record of a cache, with the number of records and bytes that there are now."""
    try:
        about, arrays = parted(payload)
        return joined(about | {"records": count, "bytes": end}, arrays)
    except (ValueError, KeyError, TypeError, IndexError, struct.error):
        return payload


KINDS = {"model": model, "moments": moments, "state": state, "cache": cache}
