"""How memory is kept: the ports that slices see, and the engines behind them.

``ports`` says what is asked; the engines ``sqlite`` and ``memory`` answer it. ``rules`` and ``rows`` are what engines share,
``documents`` is the git repository behind one of the ports and ``blocks`` reads SQL. ``queries`` and ``watch`` work over
the ports of any engine.
"""
