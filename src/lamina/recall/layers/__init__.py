"""Reading the five layers one by one: lists with filters on both time axes, single records, and why they stand."""
