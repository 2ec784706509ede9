-- select event, count() from events where event in ('buy', 'view', 'gone') group by event order by event

-- DuckDB []
SELECT "events"."event" AS "event", count(*) AS "count()" FROM (SELECT n.name AS "event", t.event_id AS "@event_id" FROM "p1".main.events AS t JOIN "p1".main.event_names AS n ON n.event_id = t.event_id) AS "events" WHERE ("events"."@event_id" IN (2, 1)) GROUP BY "events"."event" ORDER BY "events"."event" NULLS LAST

-- ClickHouse ["buy","view","gone"]
SELECT `events`.`event` AS `event`, count() AS `count()` FROM (SELECT CAST(t.event AS String) AS `event` FROM (SELECT * FROM events WHERE project_id = 1) AS t) AS `events` WHERE (`events`.`event` IN ({p1:String}, {p2:String}, {p3:String})) GROUP BY `events`.`event` ORDER BY `events`.`event` NULLS LAST
