-- Without lists of pending words, which every search would have to scan: after 2,000 saves, a search took five times
-- as long.
ALTER INDEX memory_tokens SET (fastupdate = off);
ALTER INDEX agent_memory_observation_words SET (fastupdate = off);
ALTER INDEX agent_memory_lesson_words SET (fastupdate = off);
SELECT gin_clean_pending_list(name::regclass)
FROM unnest(ARRAY['memory_tokens', 'agent_memory_observation_words', 'agent_memory_lesson_words']) AS name;
