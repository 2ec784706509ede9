-- select arrayJoin(['x', event]) as item, count() from events where item != 'x' group by item order by item

-- DuckDB ["x"]
SELECT "item"."item" AS "item", count(*) AS "count()" FROM (SELECT *, [CAST($1 AS VARCHAR), "events"."event"] AS "@array_0" FROM (SELECT n.name AS "event" FROM "p1".main.events AS t JOIN "p1".main.event_names AS n ON n.event_id = t.event_id) AS "events") AS "events" CROSS JOIN LATERAL (SELECT unnest("events"."@array_0") AS "item") AS "item" WHERE ("item"."item" <> CAST($1 AS VARCHAR)) GROUP BY "item"."item" ORDER BY 1 NULLS LAST

-- ClickHouse ["x"]
SELECT arrayJoin([{p1:String}, `events`.`event`]) AS `item`, count() AS `count()` FROM (SELECT CAST(t.event AS String) AS `event` FROM (SELECT * FROM events WHERE project_id = 1) AS t) AS `events` WHERE notEquals(arrayJoin([{p1:String}, `events`.`event`]), {p1:String}) GROUP BY arrayJoin([{p1:String}, `events`.`event`]) ORDER BY 1 NULLS LAST
