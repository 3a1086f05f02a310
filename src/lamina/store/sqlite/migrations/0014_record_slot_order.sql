-- What a slot holds is read newest knowledge first and left at a few: in that order its thousands need not be looked through.
DROP INDEX record_slot;
CREATE INDEX record_slot ON record (tenant_id, scope, slot, recorded_from) WHERE slot IS NOT NULL;
