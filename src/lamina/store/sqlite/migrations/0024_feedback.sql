-- Verdicts of a tenant, newest first: a calibration reads them whatever else the log holds.
CREATE INDEX event_feedback ON event (tenant_id, position) WHERE modality = 'feedback';
