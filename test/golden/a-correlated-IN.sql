-- select distinct_id from events e where event in (select f.event from events f where f.distinct_id = e.distinct_id and f.timestamp > e.timestamp) order by 1

-- DuckDB []
SELECT "e"."distinct_id" AS "distinct_id" FROM (SELECT t.distinct_id AS "distinct_id", n.name AS "event", t.timestamp AS "timestamp" FROM "p1".main.events AS t JOIN "p1".main.event_names AS n ON n.event_id = t.event_id) AS "e" WHERE EXISTS (SELECT "f"."event" AS "event" FROM (SELECT n.name AS "event", t.distinct_id AS "distinct_id", t.timestamp AS "timestamp" FROM "p1".main.events AS t JOIN "p1".main.event_names AS n ON n.event_id = t.event_id) AS "f" WHERE ((("f"."distinct_id" = "e"."distinct_id") AND ("f"."timestamp" > "e"."timestamp")) AND ("f"."event" = "e"."event"))) ORDER BY 1 NULLS LAST

-- ClickHouse []
SELECT `e`.`distinct_id` AS `distinct_id` FROM (SELECT t.distinct_id AS `distinct_id`, CAST(t.event AS String) AS `event`, t.timestamp AS `timestamp` FROM (SELECT * FROM events WHERE project_id = 1) AS t) AS `e` WHERE EXISTS (SELECT `f`.`event` AS `event` FROM (SELECT CAST(t.event AS String) AS `event`, t.distinct_id AS `distinct_id`, t.timestamp AS `timestamp` FROM (SELECT * FROM events WHERE project_id = 1) AS t) AS `f` WHERE and(and(equals(`f`.`distinct_id`, `e`.`distinct_id`), greater(`f`.`timestamp`, `e`.`timestamp`)), equals(`f`.`event`, `e`.`event`))) ORDER BY 1 NULLS LAST
