"""The audit's sentences stand with the model that they speak of."""

from __future__ import annotations

from graticule.report.panels.findings import sort_findings


def test_sentences_of_one_model_stay_together_in_their_order():
    (found, own) = sort_findings(["First.", "Second 4.0 %."], models=["m"])
    assert found.sentences == ("First.", "Second 4.0%.")
    assert own.sentences == ()


def test_sentences_go_to_the_model_that_begins_them():
    headline = ["a is right on 90 % of 10 images.", "a: worst in X.", "b is right on 80 % of 10 images.", "a beats b."]
    general, first, second = sort_findings(headline, models=["a", "b"])
    assert general.sentences == ("a beats b.",)
    assert first.sentences == ("a is right on 90% of 10 images.", "Worst in X.")
    assert second.sentences == ("b is right on 80% of 10 images.",)


def test_a_model_whose_name_begins_anothers_keeps_its_own():
    _, short, long = sort_findings(["net-2: worst in X.", "net: worst in Y."], models=["net", "net-2"])
    assert short.sentences == ("Worst in Y.",)
    assert long.sentences == ("Worst in X.",)
