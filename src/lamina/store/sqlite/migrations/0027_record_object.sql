-- What is said of an entity also stands in the facts and beliefs that name it as their object.
CREATE INDEX record_object ON record (tenant_id, scope, layer, object_key, recorded_from, id)
  WHERE object_key GLOB 'ent_*';
