-- Prompts and memories are no longer compared by lists of topics.
DROP TABLE topic_of;
ALTER TABLE memory DROP COLUMN about;
