-- PostgreSQL's parser takes minutes for 100,000 characters without a space, such as "a_a_a_…". So such words are cut
-- into pieces for search.
DROP INDEX agent_memory_observation_words;
ALTER TABLE agent_memory_observation DROP COLUMN words;
ALTER TABLE agent_memory_observation ADD COLUMN words tsvector GENERATED ALWAYS AS (
  setweight(to_tsvector('english', regexp_replace(left(title, 10000), '(\S{200})', '\1 ', 'g')), 'A')
  || setweight(to_tsvector('english',
    regexp_replace(left(coalesce(subtitle, ''), 10000), '(\S{200})', '\1 ', 'g')), 'B')
  || setweight(to_tsvector('english',
    regexp_replace(left(coalesce(narrative, ''), 50000), '(\S{200})', '\1 ', 'g')), 'C')
  || setweight(to_tsvector('english', regexp_replace(left(raw_text, 100000), '(\S{200})', '\1 ', 'g')), 'D')) STORED;
CREATE INDEX agent_memory_observation_words ON agent_memory_observation USING gin(words);

DROP INDEX agent_memory_lesson_words;
ALTER TABLE agent_memory_lesson DROP COLUMN words;
ALTER TABLE agent_memory_lesson ADD COLUMN words tsvector GENERATED ALWAYS AS (
  setweight(to_tsvector('english', regexp_replace(left(title, 10000), '(\S{200})', '\1 ', 'g')), 'A')
  || setweight(to_tsvector('english', regexp_replace(left(rule, 100000), '(\S{200})', '\1 ', 'g')), 'B')) STORED;
CREATE INDEX agent_memory_lesson_words ON agent_memory_lesson USING gin(words);
