"""PBN: deals and files of deals; what is read leniently, what is refused, and with which place."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.cards import ALL_CARDS, FULL, SEATS, format_hand
from simcore.deals import pbn
from simcore.deals.pbn import Deal, format_deal, parse_deal, parse_partial_deal, read_deals
from simcore.errors import NotationError

HANDS = ["AKQ.T98.75.65432", "JT9.AKQ.T98.AKQJ", "8765.7654.AKQ.T9", "432.J32.J6432.87"]
TEXT = "N:" + " ".join(HANDS)
OTHER = "N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432"
DEALS = st.permutations(ALL_CARDS).map(lambda pack: [sum(1 << card for card in pack[i::4]) for i in range(4)])
SCRAPS = st.lists(
    st.sampled_from(
        ["[Deal ", '"', "]", "N:", "e:", *HANDS, "-", ".", "10", "A", "\n", "\r\n", "{", "}", ";", "%", " ", "\ufeff", "[", "x"]
    ),
    max_size=30,
).map("".join)


@pytest.fixture
def written(tmp_path: Path):
    def write(text: str | bytes) -> Path:
        path = tmp_path / "deals.pbn"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def tag(deal: str) -> str:
    return f'[Deal "{deal}"]'


def rows(*deals: str) -> list[list[int]]:
    return [parse_deal(deal).tolist() for deal in deals]


# ---- one deal


@given(DEALS, st.sampled_from(SEATS), st.booleans())
def test_deals_round_trip_from_any_first_seat(masks: list[int], first: str, lower: bool) -> None:
    text = format_deal(masks, first)
    assert text.startswith(first + ":")
    assert text[2:].split() == [format_hand(masks[(SEATS.index(first) + i) % 4]) for i in range(4)]
    parsed = parse_deal(text.lower() if lower else text)
    assert parsed.dtype == np.uint64
    assert parsed.tolist() == masks
    assert parse_partial_deal(text).tolist() == masks
    assert format_deal(parsed, first) == text
    deal = Deal.parse(text)
    assert deal == Deal.from_masks(masks)
    assert deal.masks.tolist() == masks
    assert deal.pbn(first) == text


@given(DEALS, st.sampled_from("NS"))
def test_two_hands_of_thirteen(masks: list[int], first: str) -> None:
    text = format_deal(masks[:2], first, seats="NS")
    assert parse_deal(text, seats="NS").tolist() == masks[:2]


def test_what_is_read_leniently() -> None:
    expected = parse_deal(TEXT).tolist()
    for text in (TEXT.lower(), TEXT.replace("T", "10"), f"  {TEXT}\n", TEXT.replace(" ", "   "), TEXT.replace("N:", " n : ")):
        assert parse_deal(text).tolist() == expected
    for first in range(4):
        turned = f"{SEATS[first]}:" + " ".join(HANDS[first:] + HANDS[:first])
        assert parse_deal(turned).tolist() == expected
    assert (
        parse_deal("N:AKQJT98765432.-.-.- -.AKQJT98765432.-.- -.-.AKQJT98765432.- -.-.-.AKQJT98765432").tolist() == rows(OTHER)[0]
    )


BAD = [
    ("", ["does not begin with a seat", "N E S W"]),
    (" ".join(HANDS), ["does not begin with a seat"]),
    ("X:" + TEXT[2:], ["does not begin with a seat"]),
    ("NE:" + TEXT[2:], ["does not begin with a seat"]),
    (":" + TEXT[2:], ["does not begin with a seat"]),
    ("N:" + " ".join(HANDS[:3]), ["has 3 hands", "accepted: 4"]),
    ("N:", ["has 0 hands"]),
    ("N:" + " ".join([*HANDS, HANDS[0]]), ["has 5 hands"]),
    (TEXT.replace("AKQ.T98", "AAKQ.T9"), ["seat N", "SA stands twice"]),
    (TEXT.replace("432.J32", "432A.J32"), ["seat W", "14 cards", "accepted: 13"]),
    (TEXT.replace("432.J32", "43.J32"), ["seat W", "12 cards"]),
    (TEXT.replace("432.J32", "43A.J32"), ["SA of W is held by another seat too"]),
    ("S:" + TEXT[2:].replace("432.J32", "43A.J32"), ["SA of", "is held by another seat too"]),
    (TEXT.replace("432.J32", "43x.J32"), ["seat W", "unknown rank 'X' in spades"]),
    (TEXT.replace("432.J32.", "432.J32"), ["seat W", "3 suit(s)"]),
    ("N:" + " ".join([*HANDS[:3], "-"]), ["seat W", "'-'"]),
]


@pytest.mark.parametrize(("text", "words"), BAD)
def test_bad_deals_are_refused_with_seat_and_place(text: str, words: list[str]) -> None:
    with pytest.raises(NotationError) as caught:
        parse_deal(text)
    for word in [repr(text), *words]:
        assert word in str(caught.value)


def test_the_seat_is_named_whoever_comes_first() -> None:
    with pytest.raises(NotationError, match=r"seat S: .*14 cards"):
        parse_deal("E:" + " ".join([HANDS[1], "2" + HANDS[2], HANDS[3], HANDS[0]]))


@pytest.mark.parametrize("first", ["", "X", "ES", "n", "NESW"])
def test_formatting_refuses_unknown_seats(first: str) -> None:
    with pytest.raises(NotationError, match="accepted: N E S W"):
        Deal.parse(TEXT).pbn(first)
    with pytest.raises(NotationError, match="accepted: N S"):
        format_deal([0, 0], "E", seats="NS")


# ---- deals of which something is known


def test_partial_deals() -> None:
    assert parse_partial_deal("N:- - - -").tolist() == [0, 0, 0, 0]
    assert parse_partial_deal(f"E:{HANDS[1]} - AK... -").tolist() == [0, rows(TEXT)[0][1], 0, 3 << 59]
    assert parse_partial_deal("n:...2 - -.-.-.3 -").tolist() == [1, 0, 2, 0]
    assert parse_partial_deal("S:- A...", seats="NS").tolist() == [1 << 60, 0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("N:A... A... - -", ["SA of E", "another seat"]),
        ("N:- - - AKQJT98765432.A..", ["seat W", "14 cards", "up to 13"]),
        ("N:- - -", ["3 hands"]),
        ("N:- - - --", ["seat W", "1 suit(s)"]),
        ("N:- - - AA...", ["seat W", "SA stands twice"]),
        ("- - - -", ["does not begin with a seat"]),
    ],
)
def test_bad_partial_deals_are_refused(text: str, words: list[str]) -> None:
    with pytest.raises(NotationError) as caught:
        parse_partial_deal(text)
    for word in words:
        assert word in str(caught.value)


@given(DEALS, st.sampled_from(SEATS), st.lists(st.integers(0, 13), min_size=4, max_size=4))
def test_partial_deals_round_trip(masks: list[int], first: str, sizes: list[int]) -> None:
    kept = []
    for mask, size in zip(masks, sizes, strict=True):
        held = [1 << card for card in ALL_CARDS if mask >> card & 1][:size]
        kept.append(sum(held))
    assert parse_partial_deal(format_deal(kept, first)).tolist() == kept


# ---- files


@pytest.mark.parametrize(
    "text",
    [
        tag(TEXT),
        tag(TEXT) + "\n",
        TEXT,
        f"  {TEXT}  ; of last Tuesday\n",
        "\ufeff" + tag(TEXT),
        "\ufeff% PBN 2.1\r\n" + tag(TEXT) + "\r\n",
        "\ufeff" + TEXT,
        f'[Event "{{not a comment"]\r\n[Board "1"]\r\n{tag(TEXT)}\r\n[Result "9"]\r\n',
        f'[Board "1"]\r{tag(TEXT)}\r',
        f"{{a comment}}\n{tag(TEXT)}",
        f"{{a comment\nover lines {tag(OTHER)}\n{OTHER}\n}}{tag(TEXT)}",
        f"{tag(TEXT)} {{a comment after}} ; and another\n",
        f"{tag(TEXT)} % escaped\n",
        f"; {tag(OTHER)}\n{tag(TEXT)}",
        f"% {tag(OTHER)}\n%{{\n{tag(TEXT)}",
        f"; it's {{ unclosed in a line comment\n{tag(TEXT)}",
        f"{{ ; }}{tag(TEXT)}",
        f"{{ % }} {tag(TEXT)}",
        f'[Site "a; b"] {tag(TEXT)}',
        f'[Board "1"] [Dealer "N"] {tag(TEXT)} [Vulnerable "None"]',
        tag(TEXT).lower(),
        f'[ DEAL   "{TEXT.lower()}" ]',
        tag(TEXT).replace("T", "10"),
        tag(f"E:{HANDS[1]} {HANDS[2]} {HANDS[3]} {HANDS[0]}"),
        f'[Deal {{which}} "{TEXT}"]',
        f'{tag(TEXT)}\n[Auction "N"]\n1S Pass 2S Pass\nPass Pass\n[Play "E"]\nSA S2\n* *\n[Note "1: the [deal] of the day"]\n',
    ],
)
def test_what_files_may_look_like(written, text: str) -> None:
    assert read_deals(written(text)).tolist() == rows(TEXT)


def test_several_deals_in_a_file_keep_their_order(written) -> None:
    text = f"% PBN\n\n{tag(TEXT)}\n\n{OTHER}\r\n{tag(OTHER)} {tag(TEXT)}\n{{ {tag(TEXT)} }}\n{tag(OTHER)}"
    deals = read_deals(str(written(text)))
    assert deals.dtype == np.uint64
    assert deals.tolist() == rows(TEXT, OTHER, OTHER, TEXT, OTHER)


def test_no_deal_behind_another_tag_is_passed_over(written) -> None:
    """A tag in front of the deal's, in the same line, used to hide it."""
    assert len(read_deals(written(f'{tag(TEXT)}\n[Board "2"] {tag(OTHER)}\n'))) == 2


@pytest.mark.parametrize(("text", "words"), BAD)
def test_bad_deals_in_files_are_refused_with_the_line(written, text: str, words: list[str]) -> None:
    path = written(f'\ufeff% PBN\r\n{tag(TEXT)}\r\n{{two\r\nlines}}\r\n[Board "2"]\r\n{tag(text)}\r\n{tag(TEXT)}\r\n')
    with pytest.raises(NotationError) as caught:
        read_deals(path)
    for word in [f"{path}, line 6: ", *words]:
        assert word in str(caught.value)


def test_bad_bare_deals_are_refused_with_the_line(written) -> None:
    path = written(f"{TEXT}\n\n{TEXT.replace('AKQ.T98', 'AAKQ.T9')}\n")
    with pytest.raises(NotationError, match=r"line 3: deal 'N:AAKQ.*, seat N: .*SA stands twice"):
        read_deals(path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{tag(TEXT)}\n[Deal N:{HANDS[0]}]\n", 2),
        (f'{tag(TEXT)}\n\n[Deal "{TEXT}]\n', 3),
        (f'[Deal "{TEXT[:30]}\n{TEXT[30:]}"]', 1),
        (f'[Deal\n"{TEXT}"]', 1),
        (f"{tag(TEXT)} and more\n", 1),
        (f'[Board "1] {tag(TEXT)}\n', 1),
        (f"more and {tag(TEXT)}\n", 1),
        ("[deal]", 1),
    ],
)
def test_broken_deal_tags_are_refused_with_the_line(written, text: str, line: int) -> None:
    with pytest.raises(NotationError, match=rf"line {line}: .* is not a line of deal tags; accepted: \[Deal "):
        read_deals(written(text))


@pytest.mark.parametrize(
    ("text", "line"), [(f"{tag(TEXT)}\n{{ never closed\n{tag(TEXT)}\n", 2), ("{", 1), (f"{{a}}\n\n{tag(TEXT)} {{b\n\n", 3)]
)
def test_unclosed_comments_are_refused_with_the_line_they_begin_in(written, text: str, line: int) -> None:
    with pytest.raises(NotationError, match=f"line {line}: the comment opened by '{{' is never closed"):
        read_deals(written(text))


@pytest.mark.parametrize("text", ["", "\n", "\ufeff", "% nothing\n", f"{{{tag(TEXT)}}}", '[Board "1"]\n', " ".join(HANDS)])
def test_files_without_a_deal_are_refused(written, text: str) -> None:
    path = written(text)
    with pytest.raises(NotationError, match="holds no deal; accepted: lines like") as caught:
        read_deals(path)
    assert repr(str(path)) in str(caught.value)


def test_unreadable_files_are_refused(written, tmp_path: Path) -> None:
    with pytest.raises(NotationError, match=r"is not UTF-8 text: .* at byte 4"):
        read_deals(written(b"% x\n\xff\xfe"))
    with pytest.raises(NotationError, match="is not UTF-8 text"):
        read_deals(written(tag(TEXT).encode("utf-16")))
    with pytest.raises(NotationError, match=r"missing\.pbn' cannot be read: No such file"):
        read_deals(tmp_path / "missing.pbn")
    with pytest.raises(NotationError, match="cannot be read"):
        read_deals(tmp_path)


# ---- any text at all


@given(st.text() | SCRAPS)
def test_any_text_is_a_deal_or_a_notation_error(text: str) -> None:
    for parse in (parse_deal, parse_partial_deal):
        try:
            masks = parse(text)
        except NotationError:
            continue
        assert int(np.bitwise_or.reduce(masks)) & ~int(FULL) == 0


def test_any_file_is_deals_or_a_notation_error(tmp_path: Path) -> None:
    path = tmp_path / "any.pbn"

    @given(st.binary() | st.text().map(str.encode) | SCRAPS.map(str.encode))
    def check(data: bytes) -> None:
        path.write_bytes(data)
        try:
            deals = read_deals(path)
        except NotationError:
            return
        assert (np.bitwise_or.reduce(deals, axis=1) == FULL).all()

    check()


# ---- the human view


def test_the_table_shows_all_hands() -> None:
    shown = str(Deal.parse(TEXT))
    lines = shown.split("\n")
    assert len(lines) == 12
    assert lines[0].strip() == "S AKQ"
    assert lines[4].split() == ["S", "432", "S", "JT9"]
    assert lines[8].strip() == "S 8765"
    assert shown.isascii()
    assert "H -" in str(Deal.parse(OTHER))
    html = Deal.parse(TEXT)._repr_html_()
    assert html.count("<td>") == 9
    assert html.index("A K Q<br>") < html.index("4 3 2<br>") < html.index("J 10 9<br>")


def test_examples_in_the_docstrings() -> None:
    assert doctest.testmod(pbn).failed == 0
