"""Signed tokens: what they must be, which keys verify them, and what they leave a caller (seed 002, section 4).

``wire`` reads the form, ``keys`` and ``jwks`` hold what verifies it, ``issuers`` says whom we believe about which
tenants, ``claims`` judges what was said, ``verifier`` puts them in the order of 4.3. Nothing here can sign.
"""
