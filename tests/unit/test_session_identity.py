"""What of a user's own words is an identity."""

from __future__ import annotations

from lamina.pipeline.zones import zone_in
from tables import every_row


@every_row(
    ("words", "zone"),
    [
        ("Europe/Madrid", "Europe/Madrid"),
        ("Europe/Madrid if that matters", "Europe/Madrid"),
        ("America/New_York btw", "America/New_York"),
        ("America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"),
        ("europe/madrid", "Europe/Madrid"),
        ("america/new_york.", "America/New_York"),
        ("the same as Etc/GMT+2", "Etc/GMT+2"),
        ("UTC", "UTC"),
        ("EST5EDT", "EST5EDT"),
        ("Japan", "Japan"),
        ("Madrid", None),
        ("Time", None),
        ("Mars/Base", None),
        ("and/or", None),
        ("../../etc/passwd", None),
        ("Europe/", None),
        ("his or hers", None),
        ("", None),
    ],
)
def test_a_zone_is_one_that_the_database_of_zones_has(words, zone):
    assert zone_in(words) == zone
