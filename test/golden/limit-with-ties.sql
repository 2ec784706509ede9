-- select event from events order by event limit 1 with ties

-- DuckDB []
SELECT "events"."event" AS "event" FROM (SELECT n.name AS "event" FROM "p1".main.events AS t JOIN "p1".main.event_names AS n ON n.event_id = t.event_id) AS "events" QUALIFY rank() OVER (ORDER BY "events"."event" NULLS LAST) <= 1 ORDER BY "events"."event" NULLS LAST

-- ClickHouse []
SELECT `events`.`event` AS `event` FROM (SELECT CAST(t.event AS String) AS `event` FROM (SELECT * FROM events WHERE project_id = 1) AS t) AS `events` ORDER BY `events`.`event` NULLS LAST LIMIT 1 WITH TIES
