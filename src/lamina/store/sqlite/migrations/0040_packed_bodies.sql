-- Bodies of beliefs, episodes and concepts are packed: here are those that an earlier release wrote as text, until they are, too.
CREATE INDEX record_unpacked ON record (tenant_id)
  WHERE layer IN ('beliefs', 'episodes', 'understanding') AND typeof(body) = 'text';
