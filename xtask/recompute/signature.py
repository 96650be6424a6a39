"""Signatures of runs: Ed25519 (RFC 8032, section 5.1.7) over the id of the run and the digest of its journal."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from checks import Checks

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)

#: A point in extended coordinates.
Point = tuple[int, int, int, int]


def _add(a: Point, b: Point) -> Point:
    e = (a[1] - a[0]) * (b[1] - b[0]) % P
    f = (a[1] + a[0]) * (b[1] + b[0]) % P
    g, h = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    left, right, sum_, difference = f - e, h - g, h + g, f + e
    return left * right % P, sum_ * difference % P, right * sum_ % P, left * difference % P


def _multiply(factor: int, point: Point) -> Point:
    result: Point = (0, 1, 1, 0)
    while factor:
        if factor & 1:
            result = _add(result, point)
        point, factor = _add(point, point), factor >> 1
    return result


def _decode(encoded: bytes) -> Point | None:
    y, sign = int.from_bytes(encoded, "little") & ((1 << 255) - 1), encoded[31] >> 7
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if (x * x - square) % P or y >= P:
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


BASE = _decode((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def verifies(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the holder of the key signed the message."""
    key, commitment = _decode(public), _decode(signature[:32])
    response = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or BASE is None or response >= ORDER or len(signature) != 64:
        return False
    digest = hashlib.sha512(signature[:32] + public + message).digest()
    challenge = int.from_bytes(digest, "little") % ORDER
    left, right = _multiply(response, BASE), _add(commitment, _multiply(challenge, key))
    return not ((left[0] * right[2] - right[0] * left[2]) % P or (left[1] * right[2] - right[1] * left[2]) % P)


def check(folder: Path, digest: str, checks: Checks) -> None:
    """Section "signature.json" of the journal format, if the run is signed."""
    file = folder / "signature.json"
    if not file.exists():
        return
    signed = json.loads(file.read_text())
    checks.equal("signature.json: run", folder.name, signed["run"])
    checks.equal("signature.json: journal_sha256", digest, signed["journal_sha256"])
    checks.holds("the signature does not verify", verifies(
        bytes.fromhex(signed["public_key"]), message(folder.name, digest), bytes.fromhex(signed["signature"])))


def message(run: str, digest: str) -> bytes:
    """What is signed."""
    return f"plateau signature 1\n{run}\n{digest}\n".encode()
