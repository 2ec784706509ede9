-- select event, properties.i from events where event = 'buy' order by timestamp desc limit 10

-- DuckDB ["/i"]
SELECT "event_names"."name" AS "event", "events"."properties.i" AS "i" FROM (SELECT "events"."properties.i" AS "properties.i", "events"."timestamp" AS "timestamp", "events"."@event_id" AS "@event_id" FROM (SELECT json_extract_string(t.properties, CAST($1 AS VARCHAR)) AS "properties.i", t.timestamp AS "timestamp", t.event_id AS "@event_id" FROM "p1".main.events AS t) AS "events" WHERE ("events"."@event_id" = 2) ORDER BY "events"."timestamp" DESC NULLS LAST LIMIT 10) AS "events" JOIN (SELECT t.event_id AS "@event_id", t.name AS "name" FROM "p1".main.event_names AS t) AS "event_names" ON ("events"."@event_id" = "event_names"."@event_id") ORDER BY "events"."timestamp" DESC NULLS LAST

-- ClickHouse ["i","buy"]
SELECT `events`.`event` AS `event`, `events`.`properties.i` AS `i` FROM (SELECT CAST(t.event AS String) AS `event`, if(JSONType(t.properties, {p1:String}) = 'String', JSONExtractString(t.properties, {p1:String}), nullIf(nullIf(JSONExtractRaw(t.properties, {p1:String}), ''), 'null')) AS `properties.i`, t.timestamp AS `timestamp` FROM (SELECT * FROM events WHERE project_id = 1) AS t) AS `events` WHERE equals(`events`.`event`, {p2:String}) ORDER BY `events`.`timestamp` DESC NULLS LAST LIMIT 10
