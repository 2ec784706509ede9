-- select event, count() from events group by rollup(event) order by event

-- DuckDB []
SELECT "events"."event" AS "event", count(*) AS "count()" FROM (SELECT n.name AS "event" FROM "p1".main.events AS t JOIN "p1".main.event_names AS n ON n.event_id = t.event_id) AS "events" GROUP BY ROLLUP("events"."event") HAVING count(*) > 0 ORDER BY "events"."event" NULLS LAST

-- ClickHouse []
SELECT `events`.`event` AS `event`, count() AS `count()` FROM (SELECT CAST(t.event AS String) AS `event` FROM (SELECT * FROM events WHERE project_id = 1) AS t) AS `events` GROUP BY ROLLUP(`events`.`event`) ORDER BY `events`.`event` NULLS LAST
