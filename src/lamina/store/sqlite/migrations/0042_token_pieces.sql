-- Token vectors stand in pieces: a row with all of them takes half a page, and what is left of the page nobody uses. Rows of earlier
-- releases have them whole, until they are compacted.
CREATE TABLE token_piece (
  number             INTEGER PRIMARY KEY,
  tokens             BLOB    NOT NULL
);
CREATE TRIGGER vector_row_gone AFTER DELETE ON vector_row BEGIN
  DELETE FROM token_piece WHERE number BETWEEN OLD.id * 256 AND OLD.id * 256 + 255;
END;
