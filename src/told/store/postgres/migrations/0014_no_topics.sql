-- Prompts and memories are no longer compared by lists of topics.
ALTER TABLE memory DROP COLUMN about;
