-- What people share over REST goes into the team's log as well, in a series for each of them that the server writes.
-- `secret` and `machine_key` are what a client keeps in files: they sign this series, and nobody but its person's
-- requests and the worker may read them. `series` changes if its head was deleted.
CREATE TABLE server_series(
  team text NOT NULL,
  person text NOT NULL,
  series text NOT NULL,
  secret bytea NOT NULL,
  machine_key bytea NOT NULL,
  PRIMARY KEY (team, person),
  FOREIGN KEY (team, person) REFERENCES person);
ALTER TABLE server_series ENABLE ROW LEVEL SECURITY;
CREATE POLICY server_series_own ON server_series TO told_app USING (team = own_team() AND person = own_person());
GRANT SELECT, INSERT, UPDATE ON server_series TO told_app;

-- The heads of these series say how far the server has read the log: all are signed again after something was
-- forgotten. One person's request may add these items, but not read them.
CREATE FUNCTION queue_publishing() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = told, public, pg_temp AS $$
  INSERT INTO job(team, kind, key, person, payload)
  SELECT team, 'publish', gen_random_uuid()::text, person, '{}' FROM server_series WHERE team = own_team()
$$;
REVOKE ALL ON FUNCTION queue_publishing FROM PUBLIC;
GRANT EXECUTE ON FUNCTION queue_publishing TO told_app;

-- What was shared before.
INSERT INTO job(team, kind, key, person, payload)
SELECT team, 'publish', 'first ' || person, person, '{}' FROM person;
