DROP TABLE said;
DELETE FROM seal WHERE name = 'said';
