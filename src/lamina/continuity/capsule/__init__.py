"""The capsule as the contract has it: its shape, its bounds, what may be asked about one, and what is answered.

Begin with ``shape``, then ``validate`` for the rules that types do not say. Shape, rules, requests and help take their
limits from the one table in ``bound_rows``. ``subjects`` turns ids into paths. Nothing here reads a store.
"""
