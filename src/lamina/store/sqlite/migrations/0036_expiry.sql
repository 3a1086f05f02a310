-- Events that live until a time of their own, by that time, and the entries that say that something is over.
CREATE INDEX event_expiring ON event (tenant_id, observed_at + json_extract(directives, '$.event_ttl_us'), id)
  WHERE json_extract(directives, '$.event_ttl_us') IS NOT NULL AND cancelled_after IS NULL;
CREATE INDEX event_expiry ON event (tenant_id, scope, position) WHERE origin_channel = 'expiry';
