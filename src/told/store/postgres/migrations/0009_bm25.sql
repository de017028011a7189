-- For ranking by BM25 where PostgreSQL has the extension pg_textsearch; the server then makes the index memory_bm25.
-- The words of a memory as told stems them.
CREATE FUNCTION indexed_words(tokens tsvector) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  SET search_path = pg_catalog AS $$ SELECT array_to_string(tsvector_to_array(tokens), ' ') $$;

-- Like rank_words, it returns rows that the viewer may read only. A lower score is better, 0 is no match.
CREATE FUNCTION rank_bm25(words text, most integer) RETURNS TABLE (memory_row bigint, score double precision)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = told, public, pg_temp AS $$ BEGIN
  RETURN QUERY EXECUTE
    'SELECT m.row, indexed_words(m.tokens) <@> to_bm25query($3, ''told.memory_bm25'') AS points FROM memory m'
    ' WHERE m.team = $1 AND m.reader = ANY($2) AND m.status = ''active'''
    ' ORDER BY indexed_words(m.tokens) <@> to_bm25query($3, ''told.memory_bm25'') LIMIT $4'
    USING own_team(), readers(), words, most;
END $$;
REVOKE ALL ON FUNCTION rank_bm25 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rank_bm25 TO told_app;
