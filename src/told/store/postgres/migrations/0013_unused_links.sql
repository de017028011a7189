-- Nothing looks memories up by their topics or names.
DROP TABLE topic_of;
DROP TABLE entity_of;
