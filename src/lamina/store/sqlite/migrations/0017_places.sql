-- The lifecycle of a tenant is found without looking through that of all others, and events without a session without
-- looking through the sessions of their scope.
CREATE INDEX lifecycle_tenant ON lifecycle (tenant_id, sequence);
CREATE INDEX event_alone ON event (tenant_id, scope, position) WHERE session IS NULL;
