-- Within a small scope, comparing all vectors is faster than HNSW, which would pass most rows of other scopes.
CREATE INDEX memory_vector_scope ON memory_vector(team, model, scope, reader);
