"""``lamina-auth``: the reference issuer. It makes keys and signs tokens; the server only ever verifies them."""
