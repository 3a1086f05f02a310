"""From a captured event to derived records, one stage after the other."""
