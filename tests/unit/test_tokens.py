from datetime import UTC, datetime

from lamina.language.tokens import TERM_CHARS_MAX, analyse, content_terms, event_terms


def test_words_are_lowered_stemmed_and_stripped_of_possessives() -> None:
    assert analyse("Caroline’s paintings cost 1,500 euros") == ["carolin", "paint", "cost", "1500", "euro"]


def test_latin_accents_fold_but_kana_voicing_stays() -> None:
    assert analyse("Café が") == ["cafe", "が"]


def test_cjk_runs_become_overlapping_pairs() -> None:
    assert analyse("東京都 abc") == ["東京", "京都", "abc"]


def test_words_with_vowel_signs_stay_whole() -> None:
    assert analyse("हिन्दी में") == ["हिन्दी", "में"]


def test_terms_hold_letters_and_digits_only_and_are_bounded() -> None:
    terms = analyse("don't foo_bar " + "x" * 500)
    assert terms[:3] == ["dont", "foo", "bar"]
    assert len(terms[3]) <= TERM_CHARS_MAX


def test_text_without_words_has_no_terms() -> None:
    assert analyse(" ?! \n") == []


def test_function_words_are_dropped_unless_nothing_else_is_asked() -> None:
    assert content_terms(analyse("Where is the cat?")) == ["cat"]
    assert content_terms(analyse("Who was it?")) == ["who", "was", "it"]


def test_event_is_indexed_under_its_day_and_speaker() -> None:
    terms = event_terms("Hello", "Ann", datetime(2023, 5, 8, tzinfo=UTC))
    assert terms == ["8", "may", "2023", "ann", "hello"]
