-- States and the country are those of the schema; no configuration changes them.
DROP FUNCTION IF EXISTS fuel.keep_country(text, text, text, text[], text[], text[], integer[]);
