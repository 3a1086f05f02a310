"""What every engine does alike, as functions of values: rules of the ports, and refusals in the same words."""
