"""Rulesets: the shipped ones say what the rules say; every mistake in a file is refused with key, value and what is allowed."""

from __future__ import annotations

import json
import tomllib
from dataclasses import FrozenInstanceError
from pathlib import Path

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore import rules
from simcore.cards import ALL_CARDS, SUIT_MASKS, SUIT_NAMES, format_card, parse_card
from simcore.errors import RulesError
from simcore.rules import CHOICES, MAX_CONTRACTS, MAX_PER_TYPE, MAX_TYPES, SHIPPED, Ruleset, load_ruleset, parse_ruleset

SUMS = {  # E15, and the list of rulesets
    "elections": [12, -26, 26, 26, 26, 0, 0, -26],
    "elections-joint": [-14, 52, 26, 0, -26],
    "variety": [12, 13, 26, 0, 0, 26, -13, -26],
    "tricks": [13, 13, 13, 13, 13],
}
SMALL = """
game = "elections"
name = "small"
title = "a title"
note = "a note"

[choices]
tie = "draw"
failure_bonus = 5

[[types]]
id = "minors"
contracts = ["clubs-few", "diamonds-many"]

[[types]]
id = "queens"
contracts = ["avoid-queens"]

[contracts.clubs-few]
trump = "clubs"
low = true
trick = -1

[contracts.diamonds-many]
trump = "diamonds"
trick = 1
most_tricks = 5
note = "for the majority"

[contracts.avoid-queens]
trump = "none"
suits = { spades = -1 }
cards = { SQ = -6, HQ = -3, DQ = -3, CQ = -3 }
"""
MAGRI = 'game = "showcase"\nname = "m"\nfirst_playout = "magri"\n'


def changed(old: str, new: str, text: str = SMALL) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


def contract_text(body: str, trump: str = "none") -> str:
    head = 'game = "elections"\nname = "one"\n[[types]]\nid = "t"\ncontracts = ["c"]\n'
    return f'{head}[contracts.c]\ntrump = "{trump}"\n{body}\n'


def many(types: int, per_type: int) -> str:
    """Return a ruleset of so many types and contracts."""
    text = 'game = "elections"\nname = "many"\n'
    for t in range(types):
        text += f'[[types]]\nid = "t{t}"\ncontracts = {[f"c{t}-{c}" for c in range(per_type)]}\n'
    for t in range(types):
        for c in range(per_type):
            text += f'[contracts.c{t}-{c}]\ntrump = "none"\ntrick = 1\n'
    return text


# ---- shipped rulesets


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_rulesets_load(name: str) -> None:
    ruleset = load_ruleset(name)
    assert ruleset.name == name
    assert ruleset.title
    assert load_ruleset(ruleset) is ruleset
    assert load_ruleset(name, game=ruleset.game) == ruleset
    assert parse_ruleset(ruleset.text) == ruleset
    assert dict(ruleset.choices) == {key: naive.RULESETS[name]["choices"][key] for key in CHOICES[ruleset.style]}
    other = "showcase" if ruleset.game == "elections" else "elections"
    with pytest.raises(RulesError, match=f"ruleset '{name}' is for '{ruleset.game}', not for '{other}'"):
        load_ruleset(name, game=other)


def test_every_ruleset_file_is_shipped_and_no_two_mean_the_same() -> None:
    folder = Path(rules.__file__).parent / "rulesets"
    assert {path.stem for path in folder.glob("*.toml")} == set(SHIPPED)
    assert len({load_ruleset(name).hash for name in SHIPPED}) == len(SHIPPED)


@pytest.mark.parametrize("name", SUMS)
def test_e15_sums(name: str) -> None:
    """By the contracts' own totals, by the record that the kernels read, and by the plain data of the naive twin."""
    ruleset = load_ruleset(name)
    assert [contract.total for contract in ruleset.contracts] == SUMS[name]
    row = ruleset.record[0]
    for c, total in enumerate(SUMS[name]):
        in_groups = sum(
            int(row.group_cards[c, g]).bit_count() * int(row.group_plus[c, g] + row.group_minus[c, g]) for g in range(row.groups[c])
        )
        assert int(row.card_points[c].sum()) == in_groups
        assert 13 * row.trick[c] + row.most[c] + in_groups == total


@pytest.mark.parametrize("name", SUMS)
def test_e15_types_contracts_and_points_as_in_the_naive_twin(name: str) -> None:
    ruleset, twin = load_ruleset(name), naive.RULESETS[name]
    assert [(type_id, list(ids)) for type_id, ids in ruleset.types] == twin["types"]
    for contract in ruleset.contracts:
        terms = twin["contracts"][contract.id]
        assert (contract.trick, contract.most_tricks, contract.low) == (terms["trick"], terms["most"], terms["low"])
        for card in ALL_CARDS:
            word = format_card(card)
            lines = [terms["suits"].get(word[0], 0), terms["cards"].get(word, 0)]
            signs = (sum(p for p in lines if p > 0), sum(p for p in lines if p < 0))
            assert contract.card_signs.get(card, (0, 0)) == signs
        assert contract.two_signs == naive.has_both_signs(terms)


# ---- the record


@pytest.mark.parametrize("name", SHIPPED)
def test_the_record_holds_every_choice_by_its_number(name: str) -> None:
    ruleset = load_ruleset(name)
    for key, values in CHOICES[ruleset.style].items():
        for number, value in enumerate(values):
            assert ruleset.with_choices(**{key: value}).record[0][key] == number
    assert len(ruleset.record) == 1
    if ruleset.game == "showcase":
        assert ruleset.record[0].magri == (name == "showcase-magri")
    else:
        assert ruleset.record[0].failure_bonus == ruleset.failure_bonus == (10 if name == "variety" else 0)


@pytest.mark.parametrize("text", [SMALL, *(load_ruleset(name).text for name in SUMS), many(4, 8)], ids=lambda text: text[:0])
def test_the_record_holds_every_contract(text: str) -> None:
    ruleset = parse_ruleset(text)
    row = ruleset.record[0]
    assert (row.types, row.contracts) == (len(ruleset.types), len(ruleset.contracts))
    listed = []
    for t, (_, ids) in enumerate(ruleset.types):
        assert row.type_size[t] == len(ids)
        for place, contract_id in enumerate(ids):
            c = int(row.type_contract[t, place])
            listed.append(c)
            assert ruleset.contracts[c].id == contract_id
            assert row.contract_type[c] == t
            assert ruleset.contract(contract_id) is ruleset.contracts[c]
    assert listed == list(range(len(ruleset.contracts)))
    for c, contract in enumerate(ruleset.contracts):
        trump = 0 if contract.trump is None else int(SUIT_MASKS[contract.trump])
        assert (int(row.trump[c]), bool(row.low[c])) == (trump, contract.low)
        assert (row.trick[c], row.most[c], bool(row.two_signs[c])) == (contract.trick, contract.most_tricks, contract.two_signs)
        union = 0
        for g in range(row.groups[c]):
            cards = int(row.group_cards[c, g])
            assert cards
            assert not cards & union, "groups are disjoint"
            union |= cards
            for card in ALL_CARDS:
                if cards >> card & 1:
                    assert contract.card_signs[card] == (row.group_plus[c, g], row.group_minus[c, g])
        assert union == sum(1 << card for card in contract.card_signs)
        points = [sum(contract.card_signs.get(bit, (0, 0))) for bit in range(64)]
        assert row.card_points[c].tolist() == points
        assert not row.group_cards[c, row.groups[c] :].any()


def test_e16_a_joint_contract_keeps_plus_and_minus_apart() -> None:
    """The ten of clubs is +5 for the ten and -2 for the club, not +3."""
    joint = load_ruleset("elections-joint")
    contract = joint.contract("spades-joint")
    assert contract.card_signs[parse_card("CT")] == contract.card_signs[parse_card("CJ")] == (5, -2)
    assert contract.card_signs[parse_card("ST")] == (5, 0)
    assert contract.card_signs[parse_card("HT")] == (0, -5)
    assert contract.card_signs[parse_card("C2")] == (0, -2)
    assert parse_card("S2") not in contract.card_signs
    assert contract.two_signs
    row, c = joint.record[0], joint.contract_ids.index("spades-joint")
    groups = {
        (int(p), int(m)): int(cards) for p, m, cards in zip(row.group_plus[c], row.group_minus[c], row.group_cards[c], strict=True)
    }
    assert groups[5, -2] == (1 << parse_card("CT")) + (1 << parse_card("CJ"))
    assert row.card_points[c, parse_card("CT")] == 3
    same = parse_ruleset(contract_text("suits = { clubs = -2 }\ncards = { C2 = 2 }")).contracts[0]
    assert same.card_signs[0] == (2, -2), "points that cancel are points still"


def test_records_of_other_points_differ_and_are_plain_numbers() -> None:
    for ruleset in (parse_ruleset(SMALL), parse_ruleset(MAGRI)):
        assert ruleset.record.dtype.names
        assert all(field.base.kind in "iu" for field, *_ in ruleset.record.dtype.fields.values())
    with pytest.raises(FrozenInstanceError):
        parse_ruleset(SMALL).name = "other"
    with pytest.raises(TypeError):
        parse_ruleset(SMALL).choices["tie"] = "loss"
    with pytest.raises(TypeError):
        parse_ruleset(SMALL).contracts[0].cards[0] = 1


def test_contracts_in_words() -> None:
    ruleset = parse_ruleset(SMALL)
    assert [contract.describe() for contract in ruleset.contracts] == [
        "clubs trump, low: -1 a trick",
        "diamonds trump: +5 for more tricks, +1 a trick",
        "no trump: -1 a spade, -3 for HQ DQ CQ, -6 for SQ",
    ]
    assert [contract.total for contract in ruleset.contracts] == [-13, 18, -28]
    assert parse_ruleset(contract_text("")).contracts[0].describe() == "no trump: no points"


# ---- loading files


def test_files_are_read_by_name_and_refused_by_kind(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text(SMALL)
    assert load_ruleset(path) == load_ruleset(str(path)) == parse_ruleset(SMALL)
    path.write_bytes(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())
    assert load_ruleset(path).hash == parse_ruleset(SMALL).hash, "byte-order mark and CRLF"
    path.write_bytes(SMALL.replace("a title", "ein Titel für ♠").encode("latin-1", "replace"))
    with pytest.raises(RulesError, match=r"my\.toml' is not UTF-8: .* at byte \d+"):
        load_ruleset(path)
    path.write_text("game = [")
    with pytest.raises(RulesError, match=r"my\.toml: not valid TOML: "):
        load_ruleset(path)
    with pytest.raises(RulesError, match=r"none\.toml' cannot be read: No such file"):
        load_ruleset(tmp_path / "none.toml")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(RulesError, match=r"folder\.toml' cannot be read"):
        load_ruleset(tmp_path / "folder.toml")


@pytest.mark.parametrize("name", ["", "election", "Elections", "elections ", "../elections", "my.tom", "simcore", "elections.py"])
def test_unknown_rulesets_are_refused(name: str) -> None:
    with pytest.raises(RulesError) as caught:
        load_ruleset(name)
    assert f"ruleset {name!r} is unknown; accepted: {', '.join(SHIPPED)}, or a file ending in .toml" == str(caught.value)


def test_unknown_contracts_are_refused() -> None:
    with pytest.raises(
        RulesError, match="contract 'x' is not in ruleset 'small'; accepted: clubs-few, diamonds-many, avoid-queens"
    ):
        parse_ruleset(SMALL).contract("x")


# ---- every mistake: key, value, what is allowed

TEXTS = "accepted: a text"
POINTS = "accepted: a whole number from -500 to 500"
BOOLS = "accepted: true or false"
IDS = "accepted: lower-case letters, digits and '-'"
TRUMP_NAMES = "accepted: 'none', 'clubs', 'diamonds', 'hearts', 'spades'"


def point_mistakes() -> list[tuple[str, list[str]]]:
    shown = {"501": "501", "-501": "-501", "1.0": "1.0", "true": "True", "false": "False", '"1"': "'1'", "[1]": "[1]", "nan": "nan"}
    shown |= {"{}": "{}", "1e2": "100.0", "9223372036854775808": "9223372036854775808", "2020-01-01": "datetime.date(2020, 1, 1)"}
    found = []
    for written, value in shown.items():
        found += [
            (changed("trick = -1", f"trick = {written}"), ["contracts: clubs-few", "'trick'", value, POINTS]),
            (changed("most_tricks = 5", f"most_tricks = {written}"), ["diamonds-many", "'most_tricks'", value, POINTS]),
            (changed("spades = -1", f"spades = {written}"), ["avoid-queens: suits", "'spades'", value, POINTS]),
            (changed("SQ = -6", f"SQ = {written}"), ["avoid-queens: cards", "'SQ'", value, POINTS]),
            (changed("failure_bonus = 5", f"failure_bonus = {written}"), ["choices", "'failure_bonus'", value, POINTS]),
        ]
    return found


def unknown_keys() -> list[tuple[str, list[str]]]:
    return [
        (
            "extra = 1\n" + SMALL,
            ["test.toml: 'extra' is an unknown key", "accepted: choices, contracts, game, name, note, title, types"],
        ),
        (changed('tie = "draw"', 'ties = "draw"'), ["choices: 'ties' is an unknown key", "tie", "low_trump"]),
        (
            changed('id = "minors"', 'id = "minors"\ntrump = "clubs"'),
            ["types number 1: 'trump' is an unknown key", "contracts, id"],
        ),
        (
            changed("trick = -1", "tricks = -1"),
            ["contracts: clubs-few: 'tricks' is an unknown key", "cards, low, most_tricks, note, suits, trick"],
        ),
        (
            changed("spades = -1", "swords = -1"),
            ["avoid-queens: suits: 'swords' is an unknown key", "clubs, diamonds, hearts, spades"],
        ),
        (changed("spades = -1", "none = -1"), ["suits: 'none' is an unknown key"]),
        ("first_playout = 'magri'\n" + SMALL, ["'first_playout' is an unknown key"]),
        (MAGRI + '[choices]\nturned_card = "out"', ["choices: 'turned_card' is an unknown key", "follow_from"]),
        (MAGRI + "[choices]\nfailure_bonus = 1", ["choices: 'failure_bonus' is an unknown key"]),
        (MAGRI.replace("magri", "showcase") + '[choices]\nfollow_from = "showcase"', ["choices: 'follow_from' is an unknown key"]),
        (MAGRI + '[[types]]\nid = "t"\ncontracts = []', ["'types' is an unknown key", "first_playout, game, name"]),
        (MAGRI + "[contracts]", ["'contracts' is an unknown key"]),
    ]


def wrong_values() -> list[tuple[str, list[str]]]:
    found = [
        (changed('game = "elections"', 'game = "bridge"'), ["'game'", "'bridge'", "'elections', 'showcase'"]),
        (changed('game = "elections"', "game = 1"), ["'game'", "1", "'elections', 'showcase'"]),
        (changed('game = "elections"', 'game = ["elections"]'), ["'game'", "['elections']"]),
        (changed('name = "small"', 'name = ""'), ["'name'", "''", TEXTS]),
        (changed('name = "small"', 'name = " "'), ["'name'", "' '", TEXTS]),
        (changed('name = "small"', r'name = "a\nb"'), ["'name'", r"'a\nb'", "on one line"]),
        (changed('name = "small"', r'name = "\u001b[31mred"'), ["'name'", r"'\x1b[31mred'", "without control characters"]),
        (changed('title = "a title"', r'title = "a\u202eb"'), ["'title'", r"'a\u202eb'", "without control characters"]),
        (changed('name = "small"', "name = 7"), ["'name'", "7", TEXTS]),
        (changed('title = "a title"', "title = 7"), ["'title'", "7", TEXTS]),
        (changed('note = "a note"', "note = false"), ["'note'", "False", TEXTS]),
        (changed('note = "for the majority"', "note = []"), ["diamonds-many", "'note'", "[]", TEXTS]),
        (MAGRI.replace("magri", "other"), ["'first_playout'", "'other'", "'showcase', 'magri'"]),
        (changed("[choices]", "[[choices]]"), ["'choices'", "accepted: a table"]),
        (changed('tie = "draw"', 'tie = "win"'), ["choices: key 'tie'", "'win'", "accepted: 'loss', 'draw'"]),
        (changed('tie = "draw"', 'tie = "Draw"'), ["choices: key 'tie'", "'Draw'", "accepted: 'loss', 'draw'"]),
        (changed('tie = "draw"', "tie = 1"), ["choices: key 'tie'", "1", "accepted: 'loss', 'draw'"]),
        (changed('tie = "draw"', "tie = false"), ["choices: key 'tie'", "False", "accepted: 'loss', 'draw'"]),
        (changed('"clubs"', '"none "'), ["clubs-few", "'trump'", "'none '", TRUMP_NAMES]),
        (changed('"clubs"', '"♣"'), ["clubs-few", "'trump'", "'♣'", TRUMP_NAMES]),
        (changed('"clubs"', '"Clubs"'), ["clubs-few", "'trump'", "'Clubs'", TRUMP_NAMES]),
        (changed('"clubs"', "0"), ["clubs-few", "'trump'", "0", TRUMP_NAMES]),
        (changed("low = true", "low = 1"), ["clubs-few", "'low'", "1", BOOLS]),
        (changed("low = true", 'low = "yes"'), ["clubs-few", "'low'", "'yes'", BOOLS]),
        (changed("{ spades = -1 }", '"spades"'), ["avoid-queens", "'suits'", "'spades'", "accepted: a table"]),
        (changed("{ SQ = -6, HQ = -3, DQ = -3, CQ = -3 }", "[1]"), ["avoid-queens", "'cards'", "[1]", "accepted: a table"]),
        (changed("SQ = -6", "XQ = -6"), ["avoid-queens: cards", "'XQ' is not a card", "accepted: a suit of S H D C"]),
        (changed("SQ = -6", '"" = -6'), ["avoid-queens: cards", "'' is not a card"]),
        (changed("SQ = -6", "spades = -6"), ["avoid-queens: cards", "'spades' is not a card"]),
        (changed('"clubs-few", "diamonds-many"', ""), ["types number 1", "'contracts'", "[]", "a list of 1 to 8 contract ids"]),
        (changed('["avoid-queens"]', '"avoid-queens"'), ["types number 2", "'contracts'", "'avoid-queens'", "a list of 1 to 8"]),
        (changed('["avoid-queens"]', "[1]"), ["types number 2", "'contracts'", "1", IDS]),
        (
            'types = "x"\n' + MAGRI.replace("showcase", "elections", 1).replace("first_playout", "title") + "[contracts]",
            ["'types'", "'x'", "1 to 10 tables [[types]]"],
        ),
        ('types = [1]\ngame = "elections"\nname = "x"\n[contracts]', ["'types'", "[1]", "1 to 10 tables [[types]]"]),
        ('types = []\ngame = "elections"\nname = "x"\n[contracts]', ["'types'", "[]", "1 to 10 tables [[types]]"]),
        ('contracts = 1\ngame = "elections"\nname = "x"\n', ["'contracts'", "1", "accepted: a table"]),
        (
            changed("[contracts.clubs-few]\n", "[contracts]\nclubs-few = 1\n[other]\n"),
            ["contracts: key 'clubs-few'", "1", "a table"],
        ),
    ]
    for bad in ("Queens", "", "a b", "a_b", "-", "--", "ä", "a.b", "a\\n"):
        found.append((changed('id = "queens"', f'id = "{bad}"'), ["types number 2: key 'id'", "accepted: "]))
        found.append((changed('["avoid-queens"]', f'["{bad}"]'), ["types number 2: key 'contracts'", IDS]))
    return found


def missing_keys() -> list[tuple[str, list[str]]]:
    def without(line: str, text: str = SMALL) -> str:
        return changed(line + "\n", "", text)

    return [
        ("", ["key 'game' is missing", "'elections', 'showcase'"]),
        (without('game = "elections"'), ["key 'game' is missing", "'elections', 'showcase'"]),
        (without('name = "small"'), ["key 'name' is missing", TEXTS]),
        (without('first_playout = "magri"', MAGRI), ["key 'first_playout' is missing", "'showcase', 'magri'"]),
        (without('id = "queens"'), ["types number 2: key 'id' is missing", TEXTS]),
        (without('contracts = ["avoid-queens"]'), ["types number 2: key 'contracts' is missing", "a list of 1 to 8"]),
        (without('trump = "none"'), ["contracts: avoid-queens: key 'trump' is missing", TRUMP_NAMES]),
        (changed('["avoid-queens"]', '["no-queens"]'), ["contracts: key 'no-queens' is missing", "accepted: a table"]),
        ('game = "elections"\nname = "x"\n[contracts]', ["key 'types' is missing", "1 to 10 tables [[types]]"]),
        ('game = "elections"\nname = "x"\n[[types]]\nid = "t"\ncontracts = ["c"]', ["key 'contracts' is missing", "a table"]),
    ]


def clashes() -> list[tuple[str, list[str]]]:
    return [
        (changed("SQ = -6", "SQ = -6, QS = 0"), ["avoid-queens: cards: 'QS' and 'SQ' are the same card"]),
        (changed("SQ = -6", '"♠Q" = -6, sq = -6'), ["avoid-queens: cards: 'sq' and '♠Q' are the same card"]),
        (changed("SQ = -6", "HT = 1, H10 = 1"), ["avoid-queens: cards: 'H10' and 'HT' are the same card"]),
        (
            changed('["avoid-queens"]', '["avoid-queens", "clubs-few"]'),
            ["types number 2: contract 'clubs-few' belongs to two types"],
        ),
        (
            changed('["avoid-queens"]', '["avoid-queens", "avoid-queens"]'),
            ["types number 2: contract 'avoid-queens' belongs to two"],
        ),
        (
            changed('["avoid-queens"]', '["clubs-few"]').replace('"clubs-few", ', ""),
            ["'avoid-queens' is a contract that no type lists"],
        ),
        (changed('id = "queens"', 'id = "minors"'), ["types number 2: id 'minors' is taken", "'pass'"]),
        (changed('id = "queens"', 'id = "pass"'), ["types number 2: id 'pass' is taken", "another word"]),
        *(
            (SMALL.replace("avoid-queens", word), [f"types number 2: id '{word}' is taken", "accepted: not all, random"])
            for word in ("all", "random", "auction", "pass")
        ),
        (many(MAX_TYPES + 1, 1), ["'types'", "1 to 10 tables"]),
        (many(1, MAX_PER_TYPE + 1), ["types number 1", "'contracts'", "a list of 1 to 8"]),
        (many(5, 8), ["40 contracts; accepted: at most 32"]),
        (
            contract_text("suits = { clubs = 500, diamonds = -500, hearts = 500, spades = 500 }\ntrick = 500\nmost_tricks = 268"),
            ["a side could score 32768 points; accepted: at most 32767"],
        ),
    ]


def no_toml() -> list[tuple[str, list[str]]]:
    texts = [
        "game",
        "game = ",
        "[[types]",
        SMALL + SMALL,
        "game = 'a'\ngame = 'b'",
        "\x00",
        "a = 1" + "0" * 5000,
        "a = " + "[" * 5000,
    ]
    texts += ['a = "\\ud800"', "a = 2020-13-45", "{}", json.dumps({"game": "elections"})]
    return [(text, ["test.toml: not valid TOML: "]) for text in texts]


@pytest.mark.parametrize(
    ("text", "words"),
    [*unknown_keys(), *wrong_values(), *missing_keys(), *clashes(), *no_toml(), *point_mistakes()],
    ids=lambda value: value[0][:50] if isinstance(value, list) else "",
)
def test_every_mistake_is_refused_with_key_value_and_what_is_allowed(text: str, words: list[str]) -> None:
    with pytest.raises(RulesError) as caught:
        parse_ruleset(text, where="test.toml")
    message = str(caught.value)
    for word in ["test.toml", *words]:
        assert word in message
    assert "\n" not in message


def test_limits_are_accepted_at_the_limit() -> None:
    assert len(parse_ruleset(many(MAX_TYPES, 3)).contracts) == 30
    assert len(parse_ruleset(many(4, MAX_PER_TYPE)).contracts) == MAX_CONTRACTS
    text = contract_text("suits = { clubs = 500, diamonds = -500, hearts = 500, spades = 500 }\ntrick = 500\nmost_tricks = 267")
    assert parse_ruleset(text).contracts[0].largest_side == 2**15 - 1
    with pytest.raises(RulesError, match="32768 points"):
        parse_ruleset(text.replace("[[types]]", "[choices]\nfailure_bonus = -1\n[[types]]"))
    assert parse_ruleset(contract_text("trick = 500\nmost_tricks = -500")).contracts[0].total == 6000
    assert parse_ruleset(contract_text('suits = {}\ncards = {}\nnote = ""\nlow = false')).contracts[0].total == 0


def test_a_hexadecimal_number_of_thousands_of_digits_is_refused() -> None:
    """Python refuses to print it; the error must not."""
    with pytest.raises(RulesError, match=r"key 'trick' has the value .*; accepted: a whole number"):
        parse_ruleset(contract_text("trick = 0x" + "f" * 5000))


def test_left_out_choices_have_the_first_value_as_default() -> None:
    ruleset = parse_ruleset(contract_text("trick = 1"))
    assert ruleset.choices == {key: values[0] for key, values in CHOICES["elections"].items()}
    assert ruleset.failure_bonus == 0
    assert dict(parse_ruleset(MAGRI).choices) == {key: values[0] for key, values in CHOICES["magri"].items()}


SCALARS = (
    st.none().map(lambda _: "")
    | st.booleans()
    | st.integers(-600, 600)
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["elections", "showcase", "magri", "clubs", "none", "minors", "clubs-few", "draw", "free", "pass"])
)
JUNK = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=5) | st.sampled_from(["id", "contracts", "trump", "SA", "AS", "clubs"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


def to_toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{to_toml(key)} = {to_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(to_toml(item) for item in value) + "]"
    if isinstance(value, float):
        return repr(value)  # nan and inf are TOML
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


@st.composite
def spoilt(draw: st.DrawFn) -> str:
    """A good ruleset with a few values, at any depth, replaced, removed or added."""
    data = tomllib.loads(draw(st.sampled_from([SMALL, MAGRI, *(load_ruleset(name).text for name in SHIPPED)])))
    for _ in range(draw(st.integers(0, 3))):
        place = data
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(place[key], (dict, list)) and draw(st.integers(0, 3)):
                place = place[key]
                continue
            action = draw(st.sampled_from(["replace", "remove", "add"]))
            if action == "replace":
                place[key] = draw(JUNK)
            elif action == "remove":
                del place[key]
            elif isinstance(place, dict):
                place[draw(st.text(max_size=5) | st.sampled_from(list("SHDC")).map(lambda s: s + "A"))] = draw(JUNK)
            else:
                place.append(draw(JUNK))
            break
    return "\n".join(f"{to_toml(key)} = {to_toml(value)}" for key, value in data.items())


@given(spoilt())
def test_junk_data_is_a_ruleset_or_a_rules_error(text: str) -> None:
    tomllib.loads(text)  # it is TOML
    try:
        ruleset = parse_ruleset(text)
    except RulesError:
        return
    assert len(ruleset.record) == 1
    assert ruleset.hash == parse_ruleset(ruleset.text).hash
    assert ruleset.with_choices().hash == ruleset.hash


@given(st.text())
def test_any_text_is_a_rules_error(text: str) -> None:
    with pytest.raises(RulesError):
        parse_ruleset(text)


# ---- identity


@pytest.mark.parametrize(
    "text",
    [
        "# a comment\n" + SMALL,
        SMALL.replace("\n", "\r\n"),
        SMALL.replace('name = "small"', 'name = "other"')
        .replace("a title", "another")
        .replace("a note", "")
        .replace("majority", "m"),
        changed("SQ = -6, HQ = -3, DQ = -3, CQ = -3", "CQ = -3, DQ = -3, QH = -3, '♠q' = -6, S2 = 0"),
        changed("suits = { spades = -1 }", "suits = { clubs = 0, spades = -1 }\nlow = false\ntrick = 0"),
        changed('tie = "draw"', 'tie = "draw"\ncalls = "rising"'),
        changed("suits = { spades = -1 }\n", "") + "[contracts.avoid-queens.suits]\nspades = -1\n",
    ],
)
def test_the_hash_does_not_change_with_names_comments_and_layout(text: str) -> None:
    assert parse_ruleset(text).hash == parse_ruleset(SMALL).hash
    assert parse_ruleset(text).record.tobytes() == parse_ruleset(SMALL).record.tobytes()


def test_the_hash_changes_with_the_meaning() -> None:
    texts = [
        SMALL,
        changed('tie = "draw"', 'tie = "loss"'),
        changed('tie = "draw"', 'tie = "draw"\ncalls = "free"'),
        changed("failure_bonus = 5", "failure_bonus = 6"),
        changed('id = "queens"', 'id = "kings"'),
        SMALL.replace("avoid-queens", "queens"),
        changed('"clubs-few", "diamonds-many"', '"diamonds-many", "clubs-few"'),
        changed('"clubs-few", "diamonds-many"', '"clubs-few"').replace('"avoid-queens"', '"diamonds-many", "avoid-queens"'),
        changed('trump = "clubs"', 'trump = "spades"'),
        changed("low = true", "low = false"),
        changed("trick = -1", "trick = -2"),
        changed("most_tricks = 5", "most_tricks = 4"),
        changed("spades = -1", "hearts = -1"),
        changed("SQ = -6", "SQ = -5"),
        changed("SQ = -6", "SK = -6"),
        # the queen of spades costs the same, but from one line instead of two
        changed("SQ = -6", "SQ = -7").replace("spades = -1", "spades = 0"),
        MAGRI,
        MAGRI.replace("magri", "showcase"),
        MAGRI + '[choices]\nall_trump = "rank"',
    ]
    hashes = [parse_ruleset(text).hash for text in texts]
    assert len(set(hashes)) == len(texts)
    assert all(len(value) == 64 for value in hashes)


# ---- other choices


def one_choice_away() -> list[tuple[str, str, str]]:
    return [(name, key, value) for name in SHIPPED for key, values in CHOICES[load_ruleset(name).style].items() for value in values]


@pytest.mark.parametrize(("name", "key", "value"), one_choice_away())
def test_with_choices_changes_one_choice_and_nothing_else(name: str, key: str, value: str) -> None:
    base = load_ruleset(name)
    other = base.with_choices(**{key + "_" if key == "pass" else key: value})
    assert other.choices == {**base.choices, key: value}
    assert (other.hash == base.hash) == (base.choices[key] == value)
    assert (other.types, other.contracts, other.name, other.title) == (base.types, base.contracts, base.name, base.title)
    assert parse_ruleset(other.text) == other, "its text is the rules it is played under"
    assert other.with_choices(**{key: base.choices[key]}).hash == base.hash


LINES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp"]))


@given(LINES.filter(bool), LINES, st.text(), st.integers(-500, 500))
def test_with_choices_keeps_texts_of_any_kind(name: str, title: str, note: str, bonus: int) -> None:
    text = SMALL.replace('"small"', to_toml(name)).replace('"a title"', to_toml(title)).replace('"a note"', to_toml(note))
    try:
        base = parse_ruleset(text)
    except RulesError:
        assert not name.strip()
        return
    other = base.with_choices(failure_bonus=bonus)
    assert (other.name, other.title, other.failure_bonus, other.contracts) == (name, title, bonus, base.contracts)
    assert tomllib.loads(other.text)["note"] == note


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"tie": "win"}, ["'tie'", "'win'", "'loss', 'draw'"]),
        ({"ties": "draw"}, ["'ties' is an unknown key", "tie"]),
        ({"tie": None}, ["'tie'", "None"]),
        ({"tie": object}, ["'tie'", "object"]),
        ({"tie": 1.5}, ["'tie'", "1.5"]),
        ({"tie": True}, ["'tie'", "True"]),
        ({"failure_bonus": 501}, ["'failure_bonus'", "501", "-500 to 500"]),
        ({"failure_bonus": True}, ["'failure_bonus'", "True"]),
        ({"failure_bonus": "5"}, ["'failure_bonus'", "'5'"]),
        ({"failure_bonus": np.float64(1)}, ["'failure_bonus'", "1.0"]),
    ],
)
def test_with_choices_refuses_like_a_file(choices: dict, words: list[str]) -> None:
    with pytest.raises(RulesError) as caught:
        load_ruleset("elections").with_choices(**choices)
    for word in ["elections", *words]:
        assert word in str(caught.value)
    with pytest.raises(RulesError, match="'failure_bonus' is an unknown key"):
        load_ruleset("showcase").with_choices(failure_bonus=1)


def test_rulesets_of_all_combinations_of_choices_can_be_made() -> None:
    ruleset: Ruleset = load_ruleset("elections")
    everything = {key: values[1] for key, values in CHOICES["elections"].items()}
    other = ruleset.with_choices(**everything, failure_bonus=-7)
    assert dict(other.choices) == everything
    assert other.record[0].failure_bonus == -7
    assert all(other.record[0][key] == 1 for key in everything)
    assert SUIT_NAMES == ("clubs", "diamonds", "hearts", "spades")
